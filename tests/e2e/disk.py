"""A small disk that a test can fill: a tmpfs of its own, which needs root."""
import os
import pathlib
import subprocess
import tempfile


def why_not():
    """None when small disks can be made here, else the reason."""
    if os.geteuid() != 0:
        return "a tmpfs of limited size needs root"
    try:
        SmallDisk(1).close()
    except (OSError, subprocess.CalledProcessError) as error:
        return f"mounting a tmpfs failed: {error}"
    return None


class SmallDisk:
    def __init__(self, mib):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="holdpoint-disk-"))
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "none", str(self.path)], check=True,
                       capture_output=True)
        self.filler = self.path / "filler"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fill(self):
        """Leaves not one page free."""
        with open(self.filler, "ab", buffering=0) as file:
            for size in (65536, 4096):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    pass

    def free(self):
        self.filler.unlink(missing_ok=True)

    def close(self):
        subprocess.run(["umount", "-l", str(self.path)], check=False, capture_output=True)
        try:
            self.path.rmdir()
        except OSError:
            pass
