#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier preset: the arithmetic, what is refused, and a database by each OPTIONS file.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import math
import os
import re
import subprocess
import time
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
M = 1 << 20
G = 1 << 30

# As a user would ask for them, on a machine that is not this one. `--memory` and sizes are given.
ASKED = {
    "nvme+hdd": "--data=1863G --fast=/nvme --fast-size=372G --slow=/hdd --slow-size=1863G "
                "--hot=0.8% --value=1K --memory=64G",
    "nvme+network-volume": "--data=500G --fast=/nvme --fast-size=372G --slow=/volume "
                           "--slow-size=1T --memory=16G",
    "ram+ssd": "--data=500G --value=1K --slow=/ssd --slow-size=1T --fast-size=16G --memory=16G "
               "--writes=2K/s --device=/dev/nvme0n1p3 --device-size=20G",
    "large-values": "--data=200G --value=4K --slow=/hdd --slow-size=400G --memory=16G "
                    "--fast=/nvme --fast-size=100G --hot=5%",
    "pmem": "--data=500G --fast=/mnt/pmem --fast-size=128G --slow=/ssd --slow-size=1T "
            "--memory=16G",
    "cache-only": "--data=500G --fast=/nvme --fast-size=372G --memory=16G",
    "wal-only": "--device=/dev/nvme0n1p3 --device-size=5G --writes=20K/s --value=1K",
}

# docs/deploy-families.md has this example.
WITH_FAMILIES = ("--data=1T --families=users=fast;log_*=slow --fast=/nvme --fast-size=372G "
                 "--slow=/hdd --slow-size=1863G --memory=64G").split()


def rocktier(*arguments):
    return subprocess.run([BIN + "/rocktier", *arguments], capture_output=True, text=True)


def preset(name, *flags):
    """The answer as data."""
    result = rocktier("preset", name, *flags, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def figures_of(answer):
    return {figure["name"]: figure["value"] for figure in answer["arithmetic"]}


def grain(number):
    unit = 1
    while number >= 16 * 1024 * unit:
        unit *= 1024
    return unit


def evaluate(formula, figures):
    """A formula as this page has it: Python's, with sizes."""
    text = re.sub(r"\b(\d+)([KMGT])\b",
                  lambda match: "%s * 1024 ** %d" % (match[1], "KMGT".index(match[2]) + 1), formula)
    functions = {"min": min, "max": max,
                 "down": lambda number: math.floor(number / grain(number)) * grain(number),
                 "up": lambda number: math.ceil(number / grain(number)) * grain(number)}
    return eval(text, {"__builtins__": {}}, {**functions, **figures})


class Arithmetic(unittest.TestCase):

    def check_figures(self, answer):
        figures = {}
        for figure in answer["arithmetic"]:
            self.assertTrue(figure["why"], figure)
            if figure["formula"]:
                value = evaluate(figure["formula"], figures)
                self.assertEqual(math.floor(value), figure["value"], figure)
            figures[figure["name"]] = figure["value"]
        return figures

    def test_figures_are_what_their_formulas_say(self):
        for name, flags in ASKED.items():
            self.check_figures(preset(name, *flags.split()))
        self.check_figures(preset("nvme+network-volume", *ASKED["nvme+network-volume"].split(),
                                  "--hot=5%", "--value=200"))
        self.check_figures(preset("cache-only", "--data=500G", "--memory=16G", "--hot=0.1%"))
        self.check_figures(preset("nvme+hdd", *WITH_FAMILIES))

    def test_the_page_of_nvme_and_hdd(self):
        """docs/deploy-nvme-hdd.md has this example."""
        figures = figures_of(preset("nvme+hdd", *ASKED["nvme+hdd"].split()))
        self.assertEqual([4 * G, 20 * G, 305 * G, 10 * G],
                         [figures[name] for name in ("logs", "hot_budget", "budget", "lost")])

    def test_the_budget_of_hot_records(self):
        """plugin/hot_promotion/README.md: 5 GB in records of 1 KB, and of 200 bytes."""
        for value, budget in (1000, 6.2), (200, 7.1):
            figures = figures_of(preset(
                "nvme+network-volume", "--data=5000000000", "--hot=100%", "--value=%d" % value,
                "--fast=/nvme", "--fast-size=1T", "--slow=/v", "--slow-size=1T", "--memory=16G"))
            self.assertAlmostEqual(budget, figures["hot_budget"] / G, delta=0.1)

    def test_the_options_have_the_figures(self):
        for name, flags in ASKED.items():
            answer = preset(name, *flags.split())
            self.assertEqual(name, answer["preset"])
            text = json.dumps(answer["options"])
            figures = figures_of(answer)
            for figure in {"budget", "hot_budget", "logs"} & set(figures):
                if name != "large-values" or figure != "logs":
                    size = figures[figure]
                    self.assertTrue(any("=%d%s" % (size >> shift, unit) in text or
                                        '"%d%s"' % (size >> shift, unit) in text
                                        for shift, unit in ((10, "K"), (20, "M"), (30, "G"))
                                        if size % (1 << shift) == 0), (name, figure, text))

    def test_the_text_has_all_that_json_has(self):
        for name, flags in ASKED.items():
            answer = preset(name, *flags.split())
            result = rocktier("preset", name, *flags.split())
            self.assertEqual((0, ""), (result.returncode, result.stderr))
            lines = result.stdout.splitlines()
            for figure in answer["arithmetic"]:
                begin = r"#   %s +[\d.]+[%%KMGT]?(/s|s)?" % figure["name"]
                formula = " = " + figure["formula"] if figure["formula"] else ""
                self.assertTrue(any(re.match(begin, line) and formula in line for line in lines),
                                (name, figure, result.stdout))
            plain = " ".join(line.lstrip("# ") for line in lines)
            for note in answer["notes"]:
                self.assertIn("Note: " + note, plain)
            for title, options in answer["options"].items():
                self.assertIn("[%s" % title, result.stdout)
                for option, value in options.items():
                    at = lines.index("  %s=%s" % (option, value))
                    self.assertTrue(lines[at - 1].startswith("  # "), option)  # why

    def test_what_is_not_given_is_read(self):
        answer = preset("cache-only", "--data=1T", "--fast=" + TMP)
        figures = figures_of(answer)
        room = os.statvfs(TMP)
        self.assertAlmostEqual(1, figures["fast"] / (room.f_bavail * room.f_frsize), delta=0.2)
        with open("/proc/meminfo", encoding="utf-8") as file:
            total = int(re.search(r"MemTotal: +(\d+) kB", file.read()).group(1)) * 1024
        self.assertLess(figures["memory"], total)
        self.assertGreater(figures["memory"], 0)
        device = TMP + "/device"
        with open(device, "wb") as file:
            file.truncate(300 * M)
        self.assertEqual(300 * M, figures_of(preset("wal-only", "--device=" + device))["device"])

    def test_families_have_rules(self):
        answer = preset("nvme+hdd", *WITH_FAMILIES)
        self.assertIn(";placement={cf:users=home;cf:log_*=slow;base+1..=slow;blob=slow};",
                      answer["uri"])
        self.assertIn(answer["uri"], answer["options"]["DBOptions"]["env"])
        self.assertIn("TieredEnvListener", answer["options"]["DBOptions"]["listeners"])
        self.assertEqual(1 << 40, figures_of(answer)["slow_data"])
        self.assertEqual(2, len(answer["notes"]))
        # Without a fast one the others' levels stay on the fast device as far as there is room.
        others = [flag for flag in WITH_FAMILIES if not flag.startswith("--families=")]
        answer = preset("nvme+hdd", *others, "--families=log_[0-9]*=slow;a b=slow;")
        self.assertIn(";placement={cf:log_[0-9]*=slow;cf:a b=slow};", answer["uri"])
        self.assertEqual(1, len(answer["notes"]))

    def test_writes_say_how_long_data_stays(self):
        flags = [flag for flag in ASKED["ram+ssd"].split() if "--writes" not in flag]
        self.assertEqual("3600", preset("ram+ssd", *flags)["options"]["CFOptions"]
                         ["preserve_internal_time_seconds"])
        answer = preset("ram+ssd", *flags, "--writes=100/s")
        figures = figures_of(answer)
        self.assertEqual(figures["budget"] // (100 * 1024), figures["stays"])
        self.assertEqual(str(2 * figures["stays"]),
                         answer["options"]["CFOptions"]["preserve_internal_time_seconds"])


class Refusals(unittest.TestCase):

    def refuse(self, message, name, *flags):
        for as_json in [], ["--json"]:
            result = rocktier("preset", name, *flags, *as_json)
            self.assertEqual(2, result.returncode, (flags, result.stdout))
            self.assertIn(message, result.stderr)
            if as_json:
                self.assertIn(message, json.loads(result.stdout)["error"])
            else:
                self.assertEqual("", result.stdout)

    def change(self, name, *flags):
        """The flags of ASKED with others in their places."""
        names = {flag.split("=")[0] for flag in flags}
        return [flag for flag in ASKED[name].split() if flag.split("=")[0] not in names] + list(
            flag for flag in flags if not flag.endswith("="))

    def test_budgets_that_cannot_hold(self):
        for name, flags, message in (
                ("nvme+hdd", ["--hot=20%"], "copies (636.9G) is more than fast_left (330.8G)"),
                ("nvme+hdd", ["--slow-size=1T"], "is more than slow (1T): give a larger --slow"),
                ("nvme+hdd", ["--budget=306G"], "budget (306G) is more than home_most (305.1G)"),
                ("nvme+hdd", ["--budget=100M"], "home_least (256M) is more than budget (100M)"),
                ("nvme+hdd", ["--memory=512M"], "is more than memory (512M): give more --memory"),
                ("nvme+network-volume", ["--fast-size=10G", "--hot=5%", "--value=1K"],
                 "copies (43.7G) is more than fast_left (9G)"),
                ("nvme+network-volume", ["--slow-size=500G"], "is more than slow (500G)"),
                ("ram+ssd", ["--budget=12G"], "budget (12G) is more than memory_most"),
                ("ram+ssd", ["--memory=1G"], "tier_least (512M) is more than memory_most"),
                ("ram+ssd", ["--fast-size=500M"], "is more than memory_most (450M)"),
                ("ram+ssd", ["--device-size=128M"], "device_least (192M) is more than device_room"),
                ("ram+ssd", ["--slow-size=510G"], "is more than slow (510G)"),
                ("large-values", ["--slow-size=300G"], "is more than slow_left (270G)"),
                ("large-values", ["--hot=100%"], "is more than fast_left (90G)"),
                ("large-values", ["--memory=256M"], "is more than memory (256M)"),
                ("pmem", ["--fast-size=400M"], "pmem_least (256M) is more than budget"),
                ("pmem", ["--slow-size=500G"], "is more than slow (500G)"),
                ("cache-only", ["--hot=80%"], "hot_set (400G) is more than budget (321G)"),
                ("cache-only", ["--fast-size=4M"], "cache_least (4M) is more than budget"),
                ("cache-only", ["--memory=100M"], "cache_least (4M) is more than budget"),
                ("wal-only", ["--device-size=128M"],
                 "device_least (192M) is more than device_room (123M): give a larger --device")):
            with self.subTest(name=name, flags=flags):
                self.refuse(message, name, *self.change(name, *flags))

    def test_flags_that_are_missing(self):
        for name, flags, message in (
                ("nvme+hdd", ["--value="], "--value=BYTES is missing: --hot is of records"),
                ("large-values", ["--hot="], "--hot=PERCENT is missing"),
                ("large-values", ["--fast="], "--fast=DIR is missing"),
                ("nvme+hdd", ["--fast-size="], "--fast-size=BYTES is missing, and cannot be read"),
                ("nvme+hdd", ["--slow-size="], "--slow-size=BYTES is missing, and cannot be read"),
                ("wal-only", ["--device-size=", "--device=/none"],
                 "--device-size=BYTES is missing, and cannot be read"),
                ("wal-only", ["--device-size=", "--device=/dev/null"],
                 "is neither a block device nor a file")):
            self.refuse(message, name, *self.change(name, *flags))

    def test_one_file_system(self):
        for folder in "a", "b":
            os.makedirs("%s/one/%s" % (TMP, folder))
        self.refuse("--fast and --slow are on one file system", "nvme+hdd", "--data=1G",
                    "--fast=%s/one/a" % TMP, "--slow=%s/one/b" % TMP)

    def test_paths_that_an_options_file_cannot_have(self):
        for path in "hdd", "/a;b", "/a{b", "/a#b", "/a,b", "/a/../b", "/", "/a\nb":
            self.refuse("must be an absolute path", "nvme+hdd",
                        *self.change("nvme+hdd", "--slow=" + path))
        self.refuse("must be an absolute path", "wal-only", "--device=/a;b", "--device-size=1G")

    def test_values(self):
        for flag in ("--hot=0%", "--hot=101%", "--hot=5", "--hot=%", "--data=5%", "--memtable=1X"):
            self.refuse("no such value: " + flag.split("=")[1], "nvme+hdd",
                        *self.change("nvme+hdd", flag))
        for rate in "20K", "0/s", "1G/s", "/s", "-1/s", "20k/s":
            self.refuse("no such value: " + rate, "wal-only",
                        *self.change("wal-only", "--writes=" + rate))
        for flag in "--data=0", "--memtable=0":
            self.refuse("no such value: 0", "nvme+hdd", *self.change("nvme+hdd", flag))
        self.refuse("values below 512 bytes stay in SSTs", "large-values",
                    *self.change("large-values", "--value=511"))

    def test_families_that_placement_cannot_have(self):
        for families in ("users", "users=;a=fast", "=fast", "users=nvme", "users=fast;;log=slow",
                         "a/b=fast", "a{=fast", "a,b=fast", "a#=fast", "a=b=fast", " a=fast",
                         "a =fast", ";"):
            self.refuse("must be like users=fast;log_*=slow", "nvme+hdd",
                        *self.change("nvme+hdd", "--families=" + families))

    def test_uri(self):
        for name, flags in ASKED.items():
            answer = preset(name, *flags.split())
            result = rocktier("preset", name, *flags.split(), "--uri")
            if name == "large-values":
                self.refuse("has no URI", name, *flags.split(), "--uri")
                continue
            self.assertEqual((0, answer["uri"] + "\n"), (result.returncode, result.stdout))
            self.assertIn(answer["uri_flag"], ("--fs_uri", "--secondary_cache_uri"))


class List(unittest.TestCase):

    def test_names_all(self):
        text = rocktier("preset", "ls")
        data = json.loads(rocktier("preset", "ls", "--json").stdout)
        self.assertEqual(0, text.returncode)
        self.assertEqual(set(ASKED), {each["preset"] for each in data})
        for each in data:
            self.assertIn(each["summary"], text.stdout)
            self.assertTrue(each["summary"].endswith("."))


class Databases(unittest.TestCase):
    """A database by each OPTIONS file, with the file as it is printed, on small directories."""

    def setUp(self):
        self.folder = "%s/%s" % (TMP, self._testMethodName)
        for name in "fast", "slow":
            os.makedirs("%s/%s" % (self.folder, name))
        self.fast = self.folder + "/fast"
        self.slow = self.folder + "/slow"
        self.options = self.folder + "/preset.ini"
        self.flags = []

    def print_options(self, name, flags):
        """Writes the OPTIONS file; for the paths {fast}, {slow} and {device} in the flags."""
        self.flags = [flag.format(fast=self.fast, slow=self.slow, device=self.folder + "/device")
                      for flag in flags.split()]
        self.name = name
        result = rocktier("preset", name, *self.flags)
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        with open(self.options, "w", encoding="utf-8") as file:
            file.write(result.stdout)

    def add_option(self, line):
        with open(self.options, "a", encoding="utf-8") as file:
            file.write("  %s\n" % line)

    def bench(self, db, benchmarks, *flags, watch=None):
        """db_bench with the OPTIONS file. Returns what it prints, and the last that a statistics
        file had meanwhile."""
        self.db = db
        with open(self.options, encoding="utf-8") as file:
            env = re.search(r"^  env={(.*)}$", file.read(), re.MULTILINE)
        argv = [BIN + "/db_bench", "--db=" + db, "--options_file=" + self.options,
                "--cache_size=0", "--benchmarks=" + benchmarks, "--value_size=1000",
                "--compression_ratio=1", *flags]
        if env is not None:
            argv.append("--env_uri=" + env.group(1))
        output = self.folder + "/output"
        text = ""
        with open(output, "w", encoding="utf-8") as file:
            process = subprocess.Popen(argv, stdout=file, stderr=subprocess.STDOUT)
            while process.poll() is None:
                if watch is not None and os.path.exists(watch):
                    try:
                        with open(watch, encoding="utf-8") as page:
                            text = page.read() or text
                    except FileNotFoundError:
                        pass
                time.sleep(0.02)
        with open(output, encoding="utf-8") as file:
            printed = file.read()
        self.assertEqual(0, process.returncode, printed[-2000:])
        return printed, dict(re.findall(r"^rocktier_(?:hot_promotion|raw_wal_fs|secondary_cache_2q)"
                                        r"_(\w+?)(?:_total)?\{.*\} (\S+)$", text, re.MULTILINE))

    def logged(self, name):
        """A figure in the block of the LOG that was written at the close."""
        with open(self.db + "/LOG", encoding="utf-8", errors="replace") as file:
            values = re.findall(r"^  %s(?:\.\S*)? (\d+)$" % name, file.read(), re.MULTILINE)
        self.assertTrue(values, name)
        return int(values[-1])

    def fill_and_read(self, db, num, *flags, families=1):
        flags = [*flags, "--num_column_families=%d" % families]
        self.bench(db, "fillseq", "--num=%d" % num, *flags)
        self.read_all(db, num, "--num_column_families=%d" % families)

    def read_all(self, db, num, *flags):
        """Opens it again, and reads."""
        printed, _ = self.bench(db, "readrandom", "--use_existing_db=1", "--num=%d" % num,
                                "--reads=%d" % num, *flags)
        self.assertIn("(%d of %d found)" % (num, num), printed)

    def run_until(self, db, benchmark, watch, names, *flags):
        """Runs longer and longer until the statistics file has all the figures: a busy disk gets it
        less often than once a second."""
        for seconds in 3, 6, 12, 24, 48:
            _, figures = self.bench(db, benchmark, "--use_existing_db=1",
                                    "--duration=%d" % seconds, *flags, watch=watch)
            if all(float(figures.get(name, 0)) > 0 for name in names):
                return
        self.fail("%s in vain: %s" % (names, figures))

    def test_nvme_hdd(self):
        self.print_options("nvme+hdd", "--data=64M --value=1000 --hot=5% --fast={fast} "
                           "--slow={slow} --fast-size=40M --slow-size=1G --memory=256M "
                           "--memtable=1M")
        db = self.fast + "/db"
        self.fill_and_read(db, 60000)
        uri = rocktier("preset", self.name, *self.flags, "--uri").stdout.strip()
        files = json.loads(rocktier("tier", "ls", uri, db, "--json").stdout)
        tiers = {file["tier"] for file in files}
        self.assertEqual({"home", "slow"}, tiers & {"home", "slow"}, files)
        self.add_option("slow_read_micros=0")  # the data is in the page cache
        self.check_hot_records(db, 60000)
        stats = json.loads(rocktier("hot", "stats", self.fast + "/hot", "--json").stdout)
        self.assertGreater(stats["records"], 0)

    def test_nvme_hdd_with_families(self):
        self.print_options("nvme+hdd", "--data=64M --families=*_000001=fast;*_000002=slow "
                           "--fast={fast} --slow={slow} --fast-size=80M --slow-size=1G "
                           "--memory=256M --memtable=1M")
        db = self.fast + "/db"
        self.fill_and_read(db, 60000, families=3)
        uri = rocktier("preset", self.name, *self.flags, "--uri").stdout.strip()
        places = {0: {"home"}, 1: {"home"}, 2: {"slow"}}
        for _ in range(10):  # until the mover has had time for what the listener was not asked for
            files = [file for file in json.loads(rocktier("tier", "ls", uri, db, "--json").stdout)
                     if file["needed"]]
            found = {family: {file["tier"] for file in files if file["column_family"] == family}
                     for family in places}
            if found == places:
                break
            self.read_all(db, 60000, "--num_column_families=3")
        self.assertEqual(places, found, files)

    def test_network_volume(self):
        self.print_options("nvme+network-volume", "--data=64M --value=1000 --hot=5% --fast={fast} "
                           "--slow={slow} --fast-size=40M --slow-size=1G --memory=256M "
                           "--memtable=1M")
        db = self.slow + "/db"
        self.fill_and_read(db, 20000)
        self.add_option("slow_read_micros=0")
        self.check_hot_records(db, 20000)

    def check_hot_records(self, db, num):
        self.run_until(db, "readrandom", self.fast + "/hot/rocktier_hot_promotion.prom",
                       ("captured", "store_files"), "--num=%d" % num)

    def test_network_volume_with_a_cache_of_blocks(self):
        self.print_options("nvme+network-volume", "--data=64M --fast={fast} --slow={slow} "
                           "--fast-size=80M --slow-size=1G --memory=32M --memtable=1M")
        self.check_cache(self.slow + "/db", self.fast + "/cache")

    def test_cache_only(self):
        self.print_options("cache-only", "--data=64M --fast={fast} --fast-size=80M --memory=32M "
                           "--memtable=1M")
        self.check_cache(self.folder + "/db", self.fast + "/cache")
        uri = rocktier("preset", self.name, *self.flags, "--uri").stdout.strip()
        result = subprocess.run(
            [BIN + "/db_bench", "--db=%s/db" % self.folder, "--use_existing_db=1", "--num=20000",
             "--reads=5000", "--benchmarks=readrandom", "--cache_size=65536", "--statistics",
             "--secondary_cache_uri=" + uri], capture_output=True, text=True)
        hits = re.search(r"rocksdb.secondary.cache.hits COUNT : (\d+)", result.stdout)
        self.assertTrue(hits and int(hits.group(1)) > 0, result.stdout[-2000:] + result.stderr)

    def check_cache(self, db, path):
        self.fill_and_read(db, 20000)
        # Offers come when the block cache is full.
        self.read_all(db, 20000)
        self.run_until(db, "readrandom", path + ".prom", ("recovered",), "--num=20000")
        info = json.loads(rocktier("cache", "info", path, "--json").stdout)
        self.assertGreater(info["blocks"], 0, info)

    def test_cache_only_in_memory(self):
        self.print_options("cache-only", "--data=64M --memory=32M --memtable=1M")
        self.bench(self.folder + "/db", "fillseq", "--num=20000")
        printed, _ = self.bench(self.folder + "/db", "readrandom", "--use_existing_db=1",
                                "--num=20000", "--reads=20000", "--statistics")
        self.assertIn("(20000 of 20000 found)", printed)
        hits = re.search(r"rocksdb.secondary.cache.hits COUNT : (\d+)", printed)
        self.assertGreater(int(hits.group(1)), 0)

    def test_ram_ssd(self):
        self.print_options("ram+ssd", "--data=32M --value=1000 --fast={fast}/memory "
                           "--fast-size=64M --slow={slow} --slow-size=1G --memory=64M "
                           "--memtable=256K --device={device} --device-size=64M")
        self.fill_and_read(self.slow + "/db", 20000)
        self.run_until(self.slow + "/db", "overwrite",
                       self.slow + "/db/rocktier_raw_wal_fs.prom", ("appended_bytes",),
                       "--num=20000")
        self.assertGreater(self.logged("memory_tables"), 0)
        self.read_all(self.slow + "/db", 20000)

    def test_pmem(self):
        self.print_options("pmem", "--data=32M --fast={fast} --fast-size=64M --slow={slow} "
                           "--slow-size=1G --memory=64M --memtable=256K")
        uri = rocktier("preset", self.name, *self.flags, "--uri").stdout.strip()
        if "libpmem" in rocktier("tier", "df", uri, self.slow).stderr:
            print("skipped: libpmem is not built in")
            self.skipTest("libpmem is not built in")
        self.fill_and_read(self.slow + "/db", 20000)
        files = json.loads(rocktier("tier", "ls", uri, self.slow + "/db", "--json").stdout)
        self.assertIn("pmem", {file["tier"] for file in files}, files)

    def test_large_values(self):
        self.print_options("large-values", "--data=32M --value=1000 --slow={slow} --slow-size=1G "
                           "--memory=64M --memtable=1M")
        db = self.slow + "/db"
        self.fill_and_read(db, 20000)
        self.bench(db, "overwrite", "--use_existing_db=1", "--num=20000")
        self.assertGreater(self.logged("blob_file_bytes"), 10 * M)
        self.read_all(db, 20000)

    def test_large_values_on_a_slow_disk(self):
        self.print_options("large-values", "--data=128M --value=16K --slow={slow} --slow-size=1G "
                           "--fast={fast} --fast-size=128M --hot=50% --memory=512M --memtable=4M")
        db = self.slow + "/db"
        # More than the 64M of the blob cache.
        flags = ["--value_size=16384"]
        self.bench(db, "fillseq", "--num=8000", *flags)
        self.run_until(db, "readrandom", self.fast + "/blobs.prom", ("offers",), "--num=8000",
                       *flags)
        self.assertTrue(os.path.exists(self.fast + "/hot/HOT_PROMOTION"))

    def test_wal_only(self):
        self.print_options("wal-only", "--device={device} --device-size=64M --memtable=1M")
        db = self.folder + "/db"
        self.fill_and_read(db, 10000, "--sync=1")
        self.bench(db, "overwrite", "--use_existing_db=1", "--num=10000")
        self.assertGreater(self.logged("appended_bytes"), 9 * M)
        # The URI stands for the line in the file.
        uri = rocktier("preset", self.name, *self.flags, "--uri").stdout.strip()
        result = subprocess.run([BIN + "/ldb", "--db=" + db, "--fs_uri=" + uri,
                                 "checkconsistency"], capture_output=True, text=True)
        self.assertIn("OK", result.stdout, result.stderr)

    def test_wal_only_with_a_standby(self):
        self.print_options("wal-only", "--device={device} --device-size=64M --memtable=1M "
                           "--standby={slow}")
        self.fill_and_read(self.folder + "/db", 10000, "--sync=1")
        self.assertTrue(os.path.exists(self.slow + "/STANDBY"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
