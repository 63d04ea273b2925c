"""What the tests stand on: the real server (MINUTEBOOK_URL), the program as a child process, and
scripted servers for what a real one does not do on demand."""

import contextlib
import http.server
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE.parent / "minutebook.py"
SKILL = HERE.parent.parent / "skill" / "SKILL.md"
sys.path.insert(0, str(PROGRAM.parent))


def server_url():
    """Where the real server is. Never a default: a test must not write to somebody's server."""
    url = os.environ.get("MINUTEBOOK_URL")
    if not url:
        raise RuntimeError("MINUTEBOOK_URL must name a server to test against")
    return url


def run(*args, stdin="", env=None, cwd=None):
    """Runs the program; the result has returncode, stdout and stderr. No traceback ever."""
    filled = {**os.environ, **(env or {})}
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *map(str, args)], input=stdin, env=filled, cwd=cwd,
        capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def call(*args):
    """The same within this process, which is quicker: no stdin, no environment of its own."""
    import minutebook
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = minutebook.main([str(arg) for arg in args])
        except SystemExit as error:
            code = error.code
    return subprocess.CompletedProcess(args, code, out.getvalue(), err.getvalue())


def without_cryptography(folder):
    """An environment in which `cryptography` cannot be imported."""
    path = pathlib.Path(folder) / "cryptography.py"
    path.write_text("raise ImportError('hidden by a test')\n", encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


class Scripted:
    """A server that answers as a function says, and remembers what it was asked."""

    def __init__(self, answer):
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def _any(self):
                length = int(self.headers.get("Content-Length") or 0)
                self.body = self.rfile.read(length)
                seen.append(self)
                answer(self, len(seen))

            do_GET = do_POST = _any

            def reply(self, status, body=b"", **headers):
                """One whole answer."""
                body = body if isinstance(body, bytes) else body.encode("utf-8")
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def stream(self, *parts):
                """An event stream that then breaks."""
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for part in parts:
                    self.wfile.write(part.encode("utf-8"))
                self.close_connection = True

            def drop(self):
                """No answer at all."""
                self.close_connection = True

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class Folder(tempfile.TemporaryDirectory):
    """A temporary folder with paths in it."""

    def path(self, name):
        return os.path.join(self.name, name)
