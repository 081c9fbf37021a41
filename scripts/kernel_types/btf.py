# SPDX-License-Identifier: GPL-2.0
"""The types of a kernel, from its BTF."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

VOID, INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT, FUNC, \
    FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = range(20)
# Bytes that follow a record: a constant, and bytes for each of its `vlen` elements.
TAIL = {INT: (4, 0), ARRAY: (12, 0), STRUCT: (0, 12), UNION: (0, 12), ENUM: (0, 8),
        FUNC_PROTO: (0, 8), VAR: (4, 0), DATASEC: (0, 12), DECL_TAG: (4, 0), ENUM64: (0, 12)}
KEYWORD = {STRUCT: "struct", UNION: "union", ENUM: "enum", ENUM64: "enum"}
QUALIFIER = {CONST: "const", VOLATILE: "volatile", RESTRICT: "restrict"}


class Failure(Exception):
    """What is missing and what to do about it, in one line."""


class Type(NamedTuple):
    """A BTF record; `ref` is a size or a type id, depending on its kind."""

    kind: int
    flag: int
    vlen: int
    name: str
    ref: int
    pos: int


class Member(NamedTuple):
    """A member of a struct; `bit` is its offset, `width` is 0 except for bitfields."""

    name: str
    type: int
    bit: int
    width: int


class Btf:
    """The types of a kernel (Documentation/bpf/btf.rst has the format)."""

    def __init__(self, data: bytes):
        magic, hdr, type_off, type_len, str_off, str_len = struct.unpack_from("<HxxIIIII", data)
        if magic != 0xEB9F:
            raise Failure("the BTF found is no little-endian BTF: give VMLINUZ= its kernel")
        self.data = data
        self.strings = data[hdr + str_off:hdr + str_off + str_len]
        self.types = [Type(VOID, 0, 0, "", 0, 0)]
        self.ids: dict[tuple[str, str], int] = {}
        pos, end = hdr + type_off, hdr + type_off + type_len
        while pos < end:
            name_off, info, ref = struct.unpack_from("<III", data, pos)
            kind, vlen = info >> 24 & 0x1F, info & 0xFFFF
            pos += 12
            name = self.string(name_off)
            if name:
                # The first type of a name counts: a later one is another driver's own type.
                self.ids.setdefault((KEYWORD.get(kind, str(kind)), name), len(self.types))
            self.types.append(Type(kind, info >> 31, vlen, name, ref, pos))
            fixed, each = TAIL.get(kind, (0, 0))
            pos += fixed + each * vlen

    def string(self, offset: int) -> str:
        """Return the string at an offset of the string section."""
        return self.strings[offset:self.strings.index(0, offset)].decode()

    def find(self, kind: int, name: str) -> int:
        """Return the id of the type of this kind and name, 0 if there is none."""
        return self.ids.get((KEYWORD.get(kind, str(kind)), name), 0)

    def tagged(self, name: str) -> int:
        """Return the id of the struct, union or enum of this name, 0 if there is none."""
        return self.find(STRUCT, name) or self.find(UNION, name) or self.find(ENUM, name)

    def members(self, type_: Type) -> Iterator[Member]:
        """Yield the members of a struct or union."""
        for pos in range(type_.pos, type_.pos + 12 * type_.vlen, 12):
            name, id_, offset = struct.unpack_from("<III", self.data, pos)
            width, bit = (offset >> 24, offset & 0xFFFFFF) if type_.flag else (0, offset)
            yield Member(self.string(name), id_, bit, width)

    def pairs(self, type_: Type) -> list[tuple[str, int]]:
        """Return (name, value) of an enum's constants or (name, type id) of parameters."""
        code = "<Ii" if type_.kind == ENUM else "<II"
        found = (struct.unpack_from(code, self.data, type_.pos + 8 * i) for i in range(type_.vlen))
        return [(self.string(name), value) for name, value in found]

    def constants(self) -> set[str]:
        """Return the names of all constants of enums."""
        return {name for type_ in self.types if type_.kind == ENUM for name, _ in self.pairs(type_)}

    def array(self, type_: Type) -> tuple[int, int]:
        """Return (element type id, number of elements) of an array."""
        element, _, count = struct.unpack_from("<III", self.data, type_.pos)
        return element, count

    def strip(self, id_: int) -> Type:
        """Return the type behind qualifiers and type tags."""
        while (type_ := self.types[id_]).kind in (*QUALIFIER, TYPE_TAG):
            id_ = type_.ref
        return type_

    def pointee(self, id_: int) -> str:
        """Return the name of the type that a pointer points to, or of the type itself."""
        type_ = self.strip(id_)
        return self.strip(type_.ref).name if type_.kind == PTR else type_.name

    def member(self, struct_name: str, name: str) -> Member | None:
        """Return a member of a struct by name."""
        type_ = self.types[self.find(STRUCT, struct_name)]
        return next((m for m in self.members(type_) if m.name == name), None)

    def parameters(self, id_: int) -> list[tuple[str, str]]:
        """Return (name, type name without pointers) of each parameter of a function."""
        type_ = self.strip(id_)
        while type_.kind in (PTR, TYPEDEF, FUNC):
            type_ = self.strip(type_.ref)
        if type_.kind != FUNC_PROTO:
            return []
        return [(name, self.pointee(type_id)) for name, type_id in self.pairs(type_)]

    def kinds(self, id_: int) -> list[str]:
        """Return the type of each parameter of a function or its pointer as a word, or *."""
        return [kind.split()[-1] if kind else "*" for _, kind in self.parameters(id_)]

    def operation(self, struct_name: str, name: str) -> list[str]:
        """Return the same for a function pointer in a struct."""
        member = self.member(struct_name, name)
        return self.kinds(member.type) if member else []

    def has(self, struct_name: str, name: str) -> bool:
        """Return true if a struct has a member, perhaps inside an anonymous one."""
        def within(type_: Type) -> bool:
            return any(m.name == name or not m.name and within(self.types[m.type])
                       for m in self.members(type_))

        return within(self.types[self.find(STRUCT, struct_name)])
