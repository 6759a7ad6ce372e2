#!/usr/bin/env python3
"""Installs everything and builds a separate small project against the library: by find_package and by pkg-config.

    install_test.py BUILD_FOLDER CXX
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode:
        print(" ".join(str(part) for part in command), done.stdout, done.stderr, sep="\n")
        sys.exit(1)
    return done.stdout


def expect(program):
    printed = run(program)
    if printed != "42\n":
        sys.exit(f"{program} printed {printed!r}")


def main():
    build, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", prefix, "--component", "library")
        run("cmake", "-S", HERE / "consumer", "-B", folder / "consumer", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_CXX_COMPILER={compiler}")
        run("cmake", "--build", folder / "consumer")
        expect(folder / "consumer" / "consumer")

        run("cmake", "--install", build, "--prefix", prefix, "--component", "program")
        for name in ("bin/holdpoint", "share/man/man1/holdpoint.1", "share/bash-completion/completions/holdpoint",
                     "share/zsh/site-functions/_holdpoint", "share/fish/vendor_completions.d/holdpoint.fish"):
            if not (prefix / name).is_file() or not (prefix / name).stat().st_size:
                sys.exit(f"{name} was not installed")

        # Embedders may use another compiler than we do.
        other = shutil.which("g++-12") or compiler
        found = next(prefix.rglob("holdpoint.pc")).parent
        flags = run("pkg-config", "--cflags", "--libs", "holdpoint", env=dict(os.environ, PKG_CONFIG_PATH=str(found))).split()
        run(other, "-std=c++23", "-O0", HERE / "consumer" / "main.cpp", "-o", folder / "by_pkg_config", *flags)
        expect(folder / "by_pkg_config")
    print("installed, found and linked twice")


if __name__ == "__main__":
    main()
