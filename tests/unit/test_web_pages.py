"""The documents as HTML: every page is written, and a dead link is an error."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.vm.kernels import REPO

SCRIPT = REPO / "scripts/web-pages"


def write(script, into):
    return subprocess.run(
        [sys.executable, script, into], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    into = tmp_path_factory.mktemp("site")
    done = write(SCRIPT, into)
    assert (done.returncode, done.stderr) == (0, "")
    return into


def test_every_document_is_a_page(site):
    for source in [REPO / "README.md", *REPO.glob("docs/*.md")]:
        page = (site / source.relative_to(REPO)).with_suffix(".html").read_text()
        title = re.search(r"(?m)^# (.*)$", source.read_text())[1]
        assert f"<title>{title}</title>" in page


def test_links_lead_to_pages_and_files(site):
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)[^"]*"', page.read_text()):
            if not re.match(r"[a-z]+:", link):
                assert (page.parent / link).exists(), f"{page}: {link}"
                assert not link.endswith(".md")


def test_a_dead_link_is_an_error(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "docs").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    (tmp_path / "README.md").write_text("# A\n[b](docs/b.md#one) [c](docs/c.md) [d](docs/b.md#no)")
    (tmp_path / "docs/b.md").write_text("# B\n## One\n[a](../README.md)")
    done = write(tmp_path / "scripts/web-pages", tmp_path / "site")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "README.md: docs/c.md leads to nothing",
        "README.md: docs/b.md#no leads to nothing",
    ]
    assert 'href="docs/b.html#one"' in (tmp_path / "site/README.html").read_text()
