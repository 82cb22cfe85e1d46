"""The shipped download path against a real server on this machine."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from glcn.datasets import CATALOGUE, fetch, load
from glcn.datasets.catalogue import File
from glcn.datasets.checksum import ChecksumError
from glcn.datasets.fetch import DownloadError, download

CONTENT = bytes(range(256)) * 4000


class Server(ThreadingHTTPServer):
    """Serves CONTENT; ``cuts`` connections are broken off half-way, ``ranges`` collects what was asked for."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"/file": CONTENT}
        self.cuts = 0
        self.honours_ranges = True
        self.ranges = []
        self.encodings = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        self.server.ranges.append(wanted)
        self.server.encodings.append(self.headers.get("Accept-Encoding"))
        start = int(wanted[len("bytes=") : -1]) if wanted and self.server.honours_ranges else 0
        if wanted and start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        if self.server.cuts:
            self.server.cuts -= 1
            self.wfile.write(content[start : start + (len(content) - start) // 2])
            self.wfile.flush()
            self.connection.close()
            return
        self.wfile.write(content[start:])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def a_file(server, content=CONTENT, path="/file"):
    return File(server.url + path, hashlib.sha256(content).hexdigest(), len(content))


def test_download_and_not_again(server, tmp_path):
    heard = []
    target = download(a_file(server), tmp_path / "deep/file", lambda *progress: heard.append(progress))
    assert target.read_bytes() == CONTENT
    assert heard[-1] == ("file", len(CONTENT), len(CONTENT))
    download(a_file(server), target)
    assert len(server.ranges) == 1


def test_a_cut_connection_goes_on_where_it_was(server, tmp_path):
    server.cuts = 2
    target = download(a_file(server), tmp_path / "file")
    assert target.read_bytes() == CONTENT
    assert server.ranges[0] is None
    first, second = (int(wanted[len("bytes=") : -1]) for wanted in server.ranges[1:])
    assert 0 < first <= len(CONTENT) // 2 < second
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_server_without_ranges_starts_over(server, tmp_path):
    server.cuts, server.honours_ranges = 1, False
    assert download(a_file(server), tmp_path / "file").read_bytes() == CONTENT


def test_after_giving_up_the_next_call_goes_on(server, tmp_path):
    server.cuts = 4
    with pytest.raises(DownloadError, match="run the same command again to go on from here"):
        download(a_file(server), tmp_path / "file")
    assert not (tmp_path / "file").exists()
    server.ranges.clear()
    assert download(a_file(server), tmp_path / "file").read_bytes() == CONTENT
    assert server.ranges[0] is not None


def test_a_corrupt_file_is_not_kept(server, tmp_path):
    wrong = File(server.url + "/file", hashlib.sha256(b"other").hexdigest(), 5)
    with pytest.raises(ChecksumError, match="arrived damaged or is another version"):
        download(wrong, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_that_is_there_is_replaced(server, tmp_path):
    (tmp_path / "file").write_bytes(CONTENT[:100])
    assert download(a_file(server), tmp_path / "file").read_bytes() == CONTENT


def test_a_missing_file_is_said(server, tmp_path):
    with pytest.raises(DownloadError, match=r"the server refused .*404"):
        download(a_file(server, path="/nothing"), tmp_path / "file")


def test_no_compressed_answer_is_asked_for(server, tmp_path):
    """Ranges count the bytes that are sent: a compressed answer could not be continued."""
    download(a_file(server), tmp_path / "file")
    assert server.encodings == ["identity"]


def test_images_that_are_here_are_not_fetched_again(data_folder):
    (data_folder / "mnist").mkdir(parents=True)
    (data_folder / "mnist/mnist.npz").write_bytes(b"mine")
    assert fetch("mnist") == [data_folder / "mnist/mnist.npz"]
    assert (data_folder / "mnist/mnist.npz").read_bytes() == b"mine"


def test_a_folder_that_can_not_be_written_is_said_before_anything_is_asked_for(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    places = [tmp_path / "file/below"]
    if Path("/proc/self").exists():
        places.append(Path("/proc/glcn/file"))  # read-only even for root
    for place in places:
        with pytest.raises(PermissionError, match=r"can not write into .* set GLCN_DATA to a folder"):
            download(a_file(server), place)
    assert server.ranges == []


def test_fetching_a_dataset_by_name(server, data_folder, monkeypatch, tmp_path_factory):
    from planetoid_files import write_planetoid

    origin = tmp_path_factory.mktemp("origin")
    write_planetoid(origin, monkeypatch)
    for path in (origin / "planetoid").iterdir():
        server.files[f"/{path.name}"] = path.read_bytes()
        entry = CATALOGUE["citeseer"].files
        file = File(f"{server.url}/{path.name}", entry[f"planetoid/{path.name}"].sha256, 0)
        monkeypatch.setitem(entry, f"planetoid/{path.name}", file)
    assert len(fetch("citeseer")) == 8
    assert load("citeseer").X.shape == (1601, 5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("digits", "is bundled"),
        ("scene15", "has no download; get its images and run `glcn data import scene15 FOLDER`"),
        ("iris", "there is no dataset 'iris'"),
    ],
)
def test_what_can_not_be_fetched(name, message):
    with pytest.raises(ValueError, match=message):
        fetch(name)
