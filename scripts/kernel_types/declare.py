# SPDX-License-Identifier: GPL-2.0
"""C declarations of private types and functions, from BTF."""

from collections.abc import Iterator

from .btf import (
    ARRAY,
    ENUM,
    FUNC,
    FUNC_PROTO,
    FWD,
    INT,
    KEYWORD,
    PTR,
    QUALIFIER,
    STRUCT,
    TYPE_TAG,
    TYPEDEF,
    UNION,
    VOID,
    Btf,
    Failure,
    Type,
)

# Attributes that gcc's BTF does not have and sparse needs.
ADDRESS_SPACES = {
    ("blkcg_gq", "iostat_cpu"): "__percpu ",
    ("blkcg", "lhead"): "__percpu ",
    ("blkcg", "blkg_hint"): "__rcu ",
}


class Emitter:
    """C declarations from BTF."""

    def __init__(self, btf: Btf, typedefs: dict[str, str]):
        self.btf = btf
        # Private types, with their attributes.
        self.typedefs = typedefs
        self.lines: list[str] = []
        self.asserts: list[str] = []
        self.mentioned: set[str] = set()

    def declare(self, id_: int, name: str, space: str = "", depth: int = 0) -> str:
        """Return a C declaration of `name` with a type; `space` marks the outermost pointer."""
        btf = self.btf
        type_ = btf.types[id_]
        kind, inner = type_.kind, type_.ref
        if kind == FUNC_PROTO:
            parameters = ", ".join(self.declare(t, n) if t else "..." for n, t in btf.pairs(type_))
            return self.declare(inner, f"{name}({parameters or 'void'})")
        if kind in QUALIFIER and btf.types[inner].kind != PTR:
            return f"{QUALIFIER[kind]} {self.declare(inner, name, space, depth)}"
        if kind in QUALIFIER:
            name = f"{QUALIFIER[kind]} {name}"
        elif kind == PTR:
            name = self.pointer(type_, f"{space}*{name}")
            space = ""
        elif kind == ARRAY:
            inner, count = btf.array(type_)
            name = f"{name}[{count}]"
        elif kind != TYPE_TAG and not self.is_function(type_):
            return f"{self.base(type_, depth)} {name}".rstrip()
        return self.declare(inner, name, space, depth)

    def pointer(self, type_: Type, name: str) -> str:
        """Return the declarator `name` of a pointer, in parentheses if C needs them."""
        target = self.btf.strip(type_.ref)
        aside = target.kind in (ARRAY, FUNC_PROTO) or self.is_function(target)
        return f"({name})" if aside else name

    def is_function(self, type_: Type) -> bool:
        """Return true for a typedef of a function; these are spelt out, since some are private."""
        return type_.kind == TYPEDEF and self.btf.strip(type_.ref).kind == FUNC_PROTO

    def base(self, type_: Type, depth: int) -> str:
        """Return the C name of a type that is no pointer, array or function."""
        kind, name = type_.kind, type_.name
        if kind in (STRUCT, UNION) and not name:
            body = self.body(type_, "", depth + 1)
            return "\n".join([f"{KEYWORD[kind]} {{", *body, "\t" * depth + "}"])
        if kind in (STRUCT, UNION, ENUM, FWD):
            keyword = KEYWORD.get(kind, "union" if type_.flag else "struct")
            if keyword != "enum":
                self.mentioned.add(f"{keyword} {name}")
            return f"{keyword} {name}"
        if kind in (INT, TYPEDEF):
            return "bool" if name == "_Bool" else name
        if kind == VOID:
            return "void"
        raise Failure(f"BTF type {name or '(anonymous)'} of kind {kind} is not understood: "
                      "report the kernel's name")

    def body(self, type_: Type, owner: str, depth: int) -> list[str]:
        """Return the lines of the members of a struct or union."""
        indent = "\t" * depth
        lines = []
        for m in self.btf.members(type_):
            space = ADDRESS_SPACES.get((owner, m.name), "")
            width = f" : {m.width}" if m.width else ""
            lines.append(f"{indent}{self.declare(m.type, m.name, space, depth)}{width};")
        return lines

    def offsets(self, type_: Type, start: int = 0) -> Iterator[tuple[str, int]]:
        """Yield (member, byte offset), including anonymous members but no bitfields."""
        for m in self.btf.members(type_):
            if not m.name:
                yield from self.offsets(self.btf.types[m.type], start + m.bit // 8)
            elif not m.width:
                yield m.name, start + m.bit // 8

    def define(self, name: str) -> None:
        """Emit a private type."""
        type_ = self.btf.types[self.btf.tagged(name)]
        tag = f"{KEYWORD[type_.kind]} {name}"
        if type_.kind == ENUM:
            body = [f"\t{constant} = {value}," for constant, value in self.btf.pairs(type_)]
        else:
            body = self.body(type_, name, 1)
            self.assert_size(tag, type_)
            self.asserts += [f"static_assert(offsetof({tag}, {member}) == {offset});"
                             for member, offset in self.offsets(type_)]
        self.lines += [f"{tag} {{", *body, "};", ""]

    def assert_size(self, tag: str, type_: Type) -> None:
        """Let the compiler check a type's size."""
        self.asserts.append(f"static_assert(sizeof({tag}) == {type_.ref});")

    def declarations(
        self, private: tuple[str, ...], public: tuple[str, ...], functions: list[str]
    ) -> str:
        """Return types and prototypes, then the assertions; for `public` types only the size."""
        btf = self.btf
        for name, attribute in self.typedefs.items():
            if id_ := btf.find(TYPEDEF, name):
                self.lines += [f"typedef {self.declare(btf.types[id_].ref, attribute + name)};", ""]
        for name in private:
            self.define(name)
        for name in functions:
            self.lines.append(f"{self.declare(btf.types[btf.find(FUNC, name)].ref, name)};")
        # Sparse takes the size of a packed one-byte enum for four bytes.
        self.asserts.append("#ifndef __CHECKER__")
        for name in public:
            self.assert_size(f"struct {name}", btf.types[btf.find(STRUCT, name)])
        self.asserts.append("#endif")
        mentions = [f"{tag};" for tag in sorted(self.mentioned)]
        return "\n".join([*mentions, "", *self.lines, "", *self.asserts, ""])
