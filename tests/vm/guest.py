# SPDX-License-Identifier: MIT
"""Guests: Debian's kernels of any suite and architecture, with programs of ours, in QEMU without hardware's help.

What is fetched (kernels, headers, an emulator) is kept in PERFEV_CACHE (~/.cache/perfev), and nothing of it is installed. Never accelerated: the time of a guest with one CPU is counted in instructions, so that each run is the same.
"""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("PERFEV_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "perfev") / "vm"


class Missing(Exception):
    """A guest that cannot be had; the text says what is missing."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """How an architecture is booted: Debian's name of its kernel, its compiler, QEMU's name, machine and console."""
    kernel: str
    compiler: str
    qemu: str
    package: str
    machine: str
    console: str
    icount: bool = True  # with one CPU; False where that is slower, or does not work
    newer: bool = False  # needs a QEMU that Debian has in backports only
    header: str = ""     # the architecture as kernels' Makefiles call it, where a module of ours is built


# cx16=off: QEMU 7.2 spoils flags in cmpxchg16b, which kills newer kernels in one boot of three
MACHINES = {
    "amd64": Machine("cloud-amd64", "x86_64-linux-gnu-gcc", "x86_64", "x86", "q35 -cpu max,cx16=off", "ttyS0", header="x86"),
    "i386": Machine("686", "i686-linux-gnu-gcc", "x86_64", "x86", "q35 -cpu qemu32,+pae", "ttyS0"),
    "arm64": Machine("cloud-arm64", "aarch64-linux-gnu-gcc", "aarch64", "arm", "virt,gic-version=3 -cpu max,pauth-impdef=on",
                     "ttyAMA0", header="arm64"),
    "armhf": Machine("armmp", "arm-linux-gnueabihf-gcc", "arm", "arm", "virt -cpu cortex-a15", "ttyAMA0"),
    "s390x": Machine("s390x", "s390x-linux-gnu-gcc", "s390x", "misc", "s390-ccw-virtio -cpu max", "ttysclp0", icount=False,
                     header="s390"),
    "ppc64el": Machine("powerpc64le", "powerpc64le-linux-gnu-gcc", "ppc64", "ppc", "pseries -cpu power9", "hvc0"),
    "riscv64": Machine("riscv64", "riscv64-linux-gnu-gcc", "riscv64", "misc", "virt -cpu rv64,sscofpmf=true", "ttyS0"),
    "loong64": Machine("loong64", "loongarch64-linux-gnu-gcc", "loongarch64", "misc", "virt -cpu max", "ttyS0", icount=False,
                       newer=True),
}


def call(command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", **more)
    if done.returncode:
        last = (done.stdout.strip().splitlines() or ["no output"])[-1]
        raise Missing(f"{pathlib.Path(str(command[0])).name} failed: {last}")
    return done.stdout


# ---- packages ----------------------------------------------------------------------------------------------------

def mirror():
    """Where this machine's apt gets its packages."""
    if not shutil.which("apt-get"):
        raise Missing("apt-get is not there: kernels come from Debian's packages")
    if os.environ.get("DEBIAN_MIRROR"):
        return os.environ["DEBIAN_MIRROR"]
    for line in call(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]).splitlines():
        if re.search(r"/debian/?$", line):
            return line.rstrip("/")
    raise Missing("apt has no Debian mirror")


class Suite:
    """A suite of Debian for one architecture, beside what is installed."""

    def __init__(self, name, arch):
        self.name, self.arch = name, arch
        self.folder = CACHE / "apt" / f"{name}-{arch}"
        for part in ("lists/partial", "cache/archives/partial"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        key = "/usr/share/keyrings/debian-archive-keyring.gpg"
        (self.folder / "sources.list").write_text(f"deb [signed-by={key}] {mirror()} {name} main\n")
        options = {"APT::Architecture": arch, "APT::Architectures": arch, "Dir::Etc::sourcelist": self.folder / "sources.list",
                   "Dir::Etc::sourceparts": "/dev/null", "Dir::State::Lists": self.folder / "lists",
                   "Dir::State::status": self.folder / "status", "Dir::Cache": self.folder / "cache",
                   "APT::Sandbox::User": "root", "Acquire::Check-Valid-Until": "false"}
        self.options = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]

    def update(self):
        mark = self.folder / "updated"
        if not mark.exists():
            call(["apt-get", *self.options, "update"])
            mark.touch()

    def real(self, package):
        """What a meta package of kernels stands for."""
        while True:
            text = call(["apt-cache", *self.options, "depends", package])
            names = re.findall(r"^ *Depends: (linux-(?:image|headers|binary)-\S*\d\.\d\S*)$", text, re.M)
            names = [name for name in names if "common" not in name]
            if not names:
                return package
            package = names[0]

    def unpacked(self, package):
        """The folder of a package's files."""
        link = CACHE / "root" / f"{self.name}-{self.arch}-{package}"
        if link.exists():
            return link.resolve()
        self.update()
        real = self.real(package)
        debs = CACHE / "deb"
        for folder in (debs, link.parent):
            folder.mkdir(parents=True, exist_ok=True)
        call(["apt-get", *self.options, "download", real], cwd=debs)
        found = [deb for end in (self.arch, "all") for deb in debs.glob(f"{real}_*_{end}.deb")]
        target = link.parent / f"{self.name}-{self.arch}={real}"
        shutil.rmtree(target, ignore_errors=True)
        call(["dpkg", "-x", max(found, key=lambda deb: deb.stat().st_mtime), target])
        link.symlink_to(target.name)
        return target


# ---- a module ------------------------------------------------------------------------------------------------------

def chroot_for(suite, arch):
    """A small system of a suite with what builds modules for its kernel."""
    machine, base = MACHINES[arch], suite.removesuffix("-backports")
    folder = CACHE / "chroot" / f"{suite}-{arch}"
    if (folder / "ready").exists():
        return folder
    if os.geteuid():
        raise Missing("only root can build a module for another kernel")
    if not shutil.which("mmdebstrap"):
        raise Missing("mmdebstrap is not there")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    cross = "" if arch == "amd64" else f",gcc-{machine.compiler.removesuffix('-gcc')}"
    call(["mmdebstrap", "--mode=root", "--variant=apt", '--aptopt=APT::Install-Recommends "false"',
          '--aptopt=Acquire::Check-Valid-Until "false"', f'--aptopt=APT::Default-Release "{suite}"',
          f"--include=make,gcc,linux-headers-cloud-amd64/{suite}{cross}", base, folder,
          *[f"deb {mirror()} {name} main" for name in dict.fromkeys((base, suite))]])
    if cross:  # the common part and the tools are those of amd64
        headers = Suite(suite, arch).unpacked(f"linux-headers-{machine.kernel}") / "usr/src"
        shutil.copytree(headers, folder / "usr/src", symlinks=True, dirs_exist_ok=True)
    (folder / "ready").touch()
    return folder


def version_key(path):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", path.name)]


def module(source, suite, arch):
    """A module of ours for the kernel of a suite, built when its folder has what is newer; named like that."""
    machine, folder = MACHINES[arch], chroot_for(suite, arch)
    headers = max(folder.glob(f"usr/src/linux-headers-[0-9]*-{machine.kernel}"), key=version_key)
    built = CACHE / "module" / headers.name / f"{source.name}.ko"
    if built.exists() and built.stat().st_mtime > max(path.stat().st_mtime for path in source.iterdir()):
        return built
    shutil.rmtree(folder / "m", ignore_errors=True)
    shutil.copytree(source, folder / "m")
    objects = " ".join(f"{path.stem}.o" for path in sorted(source.glob("*.c")))
    (folder / "m/Makefile").write_text(f"obj-m := {source.name}.o\n{source.name}-y := {objects}\n")
    name = machine.compiler.removesuffix("-gcc")
    cross = [] if arch == "amd64" else ["DEB_BUILD_ARCH=amd64", f"DEB_HOST_ARCH={arch}", f"DEB_HOST_GNU_TYPE={name}",
                                        f"ARCH={machine.header}", f"CROSS_COMPILE={name}-"]
    call(["unshare", "-m", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', folder,
          "make", "-s", "-C", f"/usr/src/{headers.name}", "M=/m", *cross, "modules"])
    built.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "m" / built.name, built)
    return built


# ---- booting -----------------------------------------------------------------------------------------------------

def put(archive, name, mode, data):
    """A file of an initrd: the form that kernels unpack."""
    raw = name.encode() + b"\0"
    fields = [0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0]
    archive += b"070701" + b"".join(b"%08X" % field for field in fields) + raw
    archive += b"\0" * (-len(archive) % 4) + data
    archive += b"\0" * (-len(archive) % 4)


def initrd(files, modules, commands, links):
    archive = bytearray()
    for folder in ("bin", "dev", "proc", "sys", "tmp", "t"):
        put(archive, folder, 0o40755, b"")
    for name, target in links.items():
        put(archive, name, 0o120777, target.encode())
    for name, path in files.items():
        put(archive, name, 0o100755, pathlib.Path(path).read_bytes())
    put(archive, "modules", 0o100644, "".join(f"{line}\n" for line in modules).encode())
    put(archive, "run", 0o100644, "".join(f"{line}\n" for line in commands).encode())
    put(archive, "TRAILER!!!", 0, b"")
    return archive


def compiler_for(arch):
    """Debian 12 has none for loong64: that of a later one, which sees this project and the folder it is started in."""
    name = MACHINES[arch].compiler
    if shutil.which(name):
        return name
    if arch != "loong64":
        raise Missing(f"{name} is not there")
    wrapper = HERE.parent / "cross/loongarch64-gcc"
    call([wrapper, "--prepare"])
    return str(wrapper)


def first_process(arch):
    source, built = HERE / "init.c", CACHE / "programs" / arch / "init"
    if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
        built.parent.mkdir(parents=True, exist_ok=True)
        call([compiler_for(arch), "-static", "-O2", "-o", built, source], cwd=built.parent)
    return built


def busybox(arch, suite):
    """What a program may start: a shell, and little else."""
    root = Suite(suite.removesuffix("-backports"), arch).unpacked("busybox-static")
    return next(path for path in (root / "bin/busybox", root / "usr/bin/busybox") if path.exists())


def emulator(arch):
    """The command that emulates an architecture, and where its firmware is."""
    machine = MACHINES[arch]
    command, firmware = f"qemu-system-{machine.qemu}", []
    if machine.newer:
        suite = Suite("bookworm-backports", "amd64")
        command = suite.unpacked(f"qemu-system-{machine.package}") / "usr/bin" / command
        firmware = ["-L", suite.unpacked("qemu-system-data") / "usr/share/qemu", "-L", "/usr/share/seabios"]
    if arch == "loong64":
        efi = Suite("trixie", "amd64").unpacked("qemu-efi-loongarch64") / "usr/share/qemu-efi-loongarch64/QEMU_EFI.fd"
        firmware += ["-bios", efi]
    if not shutil.which(str(command)):
        raise Missing(f"{command} is not there")
    return command, firmware


@dataclasses.dataclass
class Run:
    """What a boot gave: the kernel, how each command ended ({word: status}), what was printed, how long it took."""
    kernel: str
    statuses: dict
    output: str
    seconds: float
    done: bool


def boot(arch, suite, files, commands, modules=(), kernel=None, cpus=1, limit=60):
    machine = MACHINES[arch]
    root = Suite(suite, arch).unpacked(kernel or f"linux-image-{machine.kernel}")
    image = next(path for path in root.rglob("vmlinu[xz]*") if path.is_file())
    command, firmware = emulator(arch)
    icount = ["-icount", "shift=3,sleep=off"] if cpus == 1 and machine.icount else []
    parameters = f"console={machine.console} quiet panic=-1 cryptomgr.notests rdinit=/init"
    start = time.monotonic()
    with tempfile.NamedTemporaryFile(prefix="perfev-vm-") as disk:
        tools = {f"bin/{name}": "busybox" for name in ("cat", "echo", "false", "ls", "sh", "sleep", "true")}
        system = {"init": first_process(arch), "bin/busybox": busybox(arch, suite)}
        disk.write(initrd({**system, **files}, modules, commands, tools))
        disk.flush()
        words = [command, "-M", *machine.machine.split(), "-accel", "tcg", "-m", "1024", "-smp", cpus, "-nodefaults",
                 "-display", "none", "-serial", "stdio", "-no-reboot", *icount, *firmware, "-kernel", image, "-initrd",
                 disk.name, "-append", parameters]
        try:
            output = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, timeout=limit).stdout
        except subprocess.TimeoutExpired as late:
            output = (late.stdout or b"") + f"\ninit: not done after {limit} s\n".encode()
    text = output.decode(errors="replace").replace("\r", "")
    statuses = {word: int(status) for word, status in re.findall(r"^--- (\S+) status=(\d+)", text, re.M)}
    return Run(re.sub(r"^.*=linux-[a-z]*-", "", root.name), statuses, text, time.monotonic() - start, "init: done, " in text)
