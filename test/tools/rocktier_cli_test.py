#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What all verbs of rocktier have in common, by their declarations: `rocktier --help --json`.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
With --write: writes the table of docs/cli.md anew.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = ROOT + "/docs/cli.md"
HEAD = "| verb | what it does | changes | database open | `--json` |\n|---|---|---|---|---|\n"
PLUGINS = ("blob_hybrid", "hot_promotion", "raw_wal_fs", "secondary_cache_2q", "tiered_env")


def rocktier(*arguments):
    return subprocess.run([BIN + "/rocktier", *arguments], capture_output=True, text=True)


TOOL = json.loads(rocktier("--help", "--json").stdout)
COMMANDS = [command for command in TOOL["commands"] if command["built"]]
VERBS = [verb for command in COMMANDS for verb in command["verbs"]]


def table():
    rows = ""
    for verb in VERBS:
        rows += "| `%s` | %s | %s | %s | %s |\n" % (
            verb["name"], verb["summary"], "yes" if verb["changes"] else "no",
            verb["may_be_open"], verb["json"])
    return HEAD + rows


def page_with(rows):
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    begin = text.index(HEAD)
    return text, text[:begin] + rows + text[text.index("\n\n", begin) + 1:]


def words_of(verb):
    return verb["name"].split()


# What flags take, by the word that stands for it; others take anything.
VALUES = {"BYTES": "1", "N": "1", "PERCENT": "1%", "RATE": "1/s"}


def arguments_of(verb, without=None):
    """As many as are required, but for a flag; there is nothing of these names."""
    return ([TMP + "/none"] * len([p for p in verb["positionals"] if p["required"]]) +
            ["--%s=%s" % (flag["name"], VALUES.get(flag["value"], "x")) for flag in verb["flags"]
             if flag["required"] and flag["name"] != without])


class EveryVerb(unittest.TestCase):

    def refuse(self, message, verb, *arguments):
        """Wrong usage: on stderr, and with --json on stdout, too."""
        for as_json in False, True:
            result = rocktier(*words_of(verb), *arguments, *(["--json"] if as_json else []))
            self.assertEqual(2, result.returncode, arguments)
            first, second = result.stderr.splitlines()
            self.assertEqual("rocktier %s: %s" % (verb["name"], message), first)
            self.assertEqual("Try: rocktier %s --help" % verb["name"], second)
            if as_json:
                self.assertEqual({"error": message}, json.loads(result.stdout))
            else:
                self.assertEqual("", result.stdout)

    def test_there_are_verbs(self):
        self.assertEqual(len(VERBS), len({verb["name"] for verb in VERBS}))
        self.assertGreater(len(VERBS), 3)

    def test_each_has_json_and_what_changes_has_a_dry_run(self):
        for verb in VERBS:
            flags = {flag["name"] for flag in verb["flags"]}
            self.assertIn("json", flags, verb)
            self.assertEqual(verb["changes"], "dry-run" in flags, verb)
            # Who may force may do harm.
            self.assertTrue(verb["changes"] or "force" not in flags, verb)

    def test_flags_that_a_verb_has_not_are_refused(self):
        for command in COMMANDS:
            all_flags = {flag["name"] for verb in command["verbs"] for flag in verb["flags"]}
            for verb in command["verbs"]:
                own = {flag["name"] for flag in verb["flags"]}
                arguments = arguments_of(verb)
                for name in sorted(all_flags - own) + ["nonsense", "jso"]:
                    self.refuse("takes no --" + name, verb, *arguments, "--" + name)
                self.refuse("takes no --nonsense", verb, "--nonsense=1", *arguments)
                self.refuse("takes no -x", verb, "-x")

    def test_too_few_and_too_many_arguments(self):
        for verb in VERBS:
            arguments = arguments_of(verb)
            required = [p["name"] for p in verb["positionals"] if p["required"]]
            for count, name in enumerate(required):
                self.refuse(name + " is missing", verb, *arguments[:count])
            for flag in verb["flags"]:
                if flag["required"]:
                    self.refuse("--%s=%s is missing" % (flag["name"], flag["value"]), verb,
                                *arguments_of(verb, without=flag["name"]))
            if any(p["repeated"] for p in verb["positionals"]):
                continue  # there are never too many
            optional = len(verb["positionals"]) - len(required)
            self.refuse("one argument too many: b", verb, *arguments, *["a"] * optional, "b", "c")

    def test_values_of_flags(self):
        for verb in VERBS:
            for flag in verb["flags"]:
                name = "--" + flag["name"]
                arguments = arguments_of(verb, without=flag["name"])
                if flag["value"] == "":
                    result = rocktier(*words_of(verb), *arguments, name + "=1")
                elif flag["repeated"]:
                    continue
                else:
                    if flag["value"] in VALUES:
                        self.refuse("%s: no such value: 7Q" % name, verb, *arguments, name + "=7Q")
                    result = rocktier(*words_of(verb), *arguments, name + "=1", name + "=2")
                self.assertEqual(2, result.returncode, (verb["name"], name))
                self.assertIn(flag["name"], result.stderr)
                self.assertIn("Try: rocktier " + verb["name"], result.stderr)

    def test_a_flag_takes_no_flag_for_its_value(self):
        for verb in VERBS:
            arguments = arguments_of(verb)
            for flag in verb["flags"]:
                name = "--" + flag["name"]
                for words in ([name + "="], [name], [name, ""]) if flag["value"] else []:
                    for after in [[], ["--dry-run"]] if verb["changes"] else [[]]:
                        self.refuse(name + ": exactly one value is needed", verb, *arguments,
                                    *words, *after)

    def test_errors_are_json_too(self):
        for verb in VERBS:
            if not any(positional["required"] for positional in verb["positionals"]):
                continue
            arguments = arguments_of(verb)
            if any(flag["name"] == "force" for flag in verb["flags"]):
                arguments.append("--force")
            for dry_run in [[], ["--dry-run"]] if verb["changes"] else [[]]:
                text = rocktier(*words_of(verb), *arguments, *dry_run)
                data = rocktier(*words_of(verb), *arguments, *dry_run, "--json")
                self.assertEqual(2, text.returncode, verb["name"])
                self.assertEqual(2, data.returncode)
                self.assertEqual(text.stderr, data.stderr)
                self.assertEqual(1, len(data.stdout.splitlines()), data.stdout)
                self.assertEqual("rocktier %s: %s\n" % (verb["name"],
                                                        json.loads(data.stdout)["error"]),
                                 data.stderr)
        self.assertFalse(os.path.exists(TMP + "/none"))

    def test_commands_and_verbs_that_there_are_not(self):
        for arguments, message, level in (
                (["cash"], "no such command: cash", ""),
                (["--cash"], "no such command: --cash", ""),
                *((([c["name"], "fly"]), "no such verb: fly", " " + c["name"])
                  for c in COMMANDS if c["verbs"][0]["name"] != c["name"])):
            result = rocktier(*arguments)
            self.assertEqual(2, result.returncode)
            self.assertEqual("", result.stdout)
            self.assertEqual("rocktier%s: %s\nTry: rocktier%s --help\n" % (level, message, level),
                             result.stderr)
            result = rocktier(*arguments, "--json")
            self.assertEqual({"error": message}, json.loads(result.stdout))
        for command in COMMANDS:
            names = [verb["name"].split()[-1] for verb in command["verbs"]]
            if len(names) > 1:
                result = rocktier(command["name"])
                self.assertEqual(2, result.returncode)
                self.assertIn(", ".join(names[:-1]) + " or " + names[-1] + "?", result.stderr)
        self.assertEqual(2, rocktier().returncode)
        self.assertIn("Usage: rocktier", rocktier().stderr)

    def test_a_plugin_that_is_not_built(self):
        for command in TOOL["commands"]:
            if not command["built"]:
                result = rocktier(command["name"], "x")
                self.assertEqual(2, result.returncode)
                self.assertIn("this rocktier was built without the plugin " + command["plugin"],
                              result.stderr)
                self.assertIn("(not built)", rocktier("--help").stdout)

    def test_names_of_verbs_are_no_verbs_where_paths_are(self):
        for verb in VERBS:
            if len(verb["positionals"]) == 1 and verb["positionals"][0]["required"]:
                result = rocktier(*words_of(verb), words_of(verb)[-1], "--json",
                                  *[a for a in arguments_of(verb) if a.startswith("--")])
                self.assertEqual(2, result.returncode, verb["name"])
                self.assertNotIn("Try:", result.stderr.replace("Try: rocktier hot clear", ""))


class Output(unittest.TestCase):

    def test_an_answer_that_cannot_be_written_is_an_error(self):
        for words in (["preset", "ls"], ["preset", "ls", "--json"], ["--help"], ["--version"],
                      ["man"], ["completion", "bash"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([BIN + "/rocktier", *words], stdout=full,
                                        stderr=subprocess.PIPE, text=True)
            self.assertEqual(2, result.returncode, words)
            self.assertIn(result.stderr, ("rocktier: stdout: No space left on device\n",
                                          "rocktier: stdout: not all was written\n"), words)


class Help(unittest.TestCase):

    def test_on_every_level(self):
        levels = [([], "Usage: rocktier COMMAND")]
        levels += [([command["name"]], "Usage: rocktier " + command["name"])
                   for command in COMMANDS]
        levels += [(words_of(verb), "Usage: rocktier " + verb["name"]) for verb in VERBS]
        for words, usage in levels:
            result = rocktier(*words, "--help")
            self.assertEqual(0, result.returncode, words)
            self.assertEqual("", result.stderr)
            self.assertIn(usage, result.stdout)
            self.assertIn("Exit status: 0", result.stdout)
            for line in result.stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)
                self.assertEqual(line.rstrip(), line)
            self.assertEqual(result.stdout, rocktier(*words, "-h").stdout)

    def test_says_all_that_is_declared(self):
        for verb in VERBS:
            # With arguments, too: who asks for help gets it.
            text = rocktier(*words_of(verb), "a", "--help", "b").stdout
            blanks = " ".join(text.split())
            for each in verb["positionals"] + verb["flags"]:
                self.assertIn(each["name"], text)
                self.assertIn(each["help"], blanks)
            self.assertIn(verb["summary"], blanks)
            self.assertIn(verb["exit_status"], blanks)
            self.assertEqual(verb, json.loads(
                rocktier(*words_of(verb), "--help", "--json").stdout))

    def test_of_commands_lists_verbs(self):
        for command in COMMANDS:
            text = rocktier(command["name"], "--help").stdout
            for verb in command["verbs"]:
                self.assertIn("rocktier " + verb["name"] + " ", text)
                self.assertIn(verb["summary"], " ".join(text.split()))

    def test_version(self):
        text = rocktier("--version").stdout
        self.assertTrue(text.startswith("rocktier %s for RocksDB " % TOOL["version"]), text)
        for command in TOOL["commands"]:
            if command["plugin"]:
                self.assertEqual(command["built"], command["plugin"] in text)

    def test_page_has_the_table(self):
        if {command["plugin"] for command in COMMANDS}.issuperset(PLUGINS):
            text, wanted = page_with(table())
            self.assertEqual(wanted, text, "see %s --write" % __file__)


class Completion(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        for shell in "bash", "zsh", "fish":
            with open("%s/completion.%s" % (TMP, shell), "w", encoding="utf-8") as file:
                file.write(rocktier("completion", shell).stdout)

    def complete(self, *words):
        """What bash offers for the last word."""
        script = ("source %s/completion.bash; COMP_WORDS=(rocktier \"$@\"); COMP_CWORD=$#; "
                  "_rocktier; printf '%%s\\n' \"${COMPREPLY[@]}\"" % TMP)
        result = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True,
                                text=True)
        self.assertEqual("", result.stderr)
        return result.stdout.split()

    def test_bash_offers_what_is_declared(self):
        self.assertEqual([command["name"] for command in TOOL["commands"]], self.complete(""))
        self.assertEqual(["--help"], self.complete("--h"))
        for command in COMMANDS:
            name = command["name"]
            self.assertEqual([c["name"] for c in TOOL["commands"]
                              if c["name"].startswith(name[:2])], self.complete(name[:2]))
            if len(command["verbs"]) > 1:
                verbs = [verb["name"].split()[1] for verb in command["verbs"]]
                self.assertEqual(verbs, self.complete(name, ""))
                self.assertEqual([v for v in verbs if v.startswith("d")], self.complete(name, "d"))
        for verb in VERBS:
            flags = ["--" + f["name"] + ("=" if f["value"] else "") for f in verb["flags"]]
            self.assertEqual(flags + ["--help"], self.complete(*words_of(verb), "--"))
            self.assertEqual(["--json"], self.complete(*words_of(verb), "x", "--js"))
            if len(words_of(verb)) > 1:
                self.assertEqual([], self.complete(*words_of(verb), ""))  # then: files
        self.assertIn("man", self.complete("man", ""))

    def test_bash_takes_files_by_default(self):
        shown = subprocess.run(
            ["bash", "-c", "source %s/completion.bash; complete -p rocktier" % TMP],
            capture_output=True, text=True)
        self.assertEqual("complete -o default -F _rocktier rocktier\n", shown.stdout)

    def check_syntax(self, shell, *argv):
        if shutil.which(shell) is None:
            print("skipped: there is no", shell)
            self.skipTest("there is no " + shell)
        result = subprocess.run([shell, *argv, TMP + "/completion." + shell], capture_output=True,
                                text=True)
        self.assertEqual((0, ""), (result.returncode, result.stderr))

    def test_bash_syntax(self):
        self.check_syntax("bash", "-n")

    def test_zsh_syntax(self):
        self.check_syntax("zsh", "-n")

    def test_fish_syntax(self):
        self.check_syntax("fish", "--no-execute")

    def test_of_zsh_and_fish_names_all(self):
        for shell in "zsh", "fish":
            with open("%s/completion.%s" % (TMP, shell), encoding="utf-8") as file:
                text = file.read()
            for verb in VERBS:
                for word in words_of(verb) + [flag["name"] for flag in verb["flags"]]:
                    self.assertIn(word, text)

    def test_json(self):
        for shell in "bash", "zsh", "fish":
            result = rocktier("completion", shell, "--json")
            with open("%s/completion.%s" % (TMP, shell), encoding="utf-8") as file:
                self.assertEqual({"script": file.read()}, json.loads(result.stdout))


class Manuals(unittest.TestCase):

    def pages(self):
        yield None, rocktier("man")
        for command in TOOL["commands"]:
            yield command, rocktier("man", command["name"])

    def test_have_all_that_is_declared(self):
        for command, page in self.pages():
            self.assertEqual(0, page.returncode, page.stderr)
            plain = page.stdout.replace("\\-", "-")
            for name in ("NAME", "SYNOPSIS", "SEE ALSO"):
                self.assertIn("\n.SH " + name, plain)
            for verb in command["verbs"] if command else ():
                self.assertIn("rocktier " + verb["name"], plain)
                self.assertIn(verb["summary"], plain)
                for flag in verb["flags"]:
                    self.assertIn("--" + flag["name"], plain)

    def test_are_rendered_without_a_warning(self):
        if shutil.which("groff") is None:
            print("skipped: there is no groff")
            self.skipTest("there is no groff")
        for _, page in self.pages():
            result = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-rLL=80n"],
                                    input=page.stdout, capture_output=True, text=True)
            self.assertEqual((0, ""), (result.returncode, result.stderr))
            self.assertIn("rocktier", result.stdout)

    def test_wrong_command_and_json(self):
        result = rocktier("man", "cash")
        self.assertEqual(2, result.returncode)
        self.assertIn("no such command: cash", result.stderr)
        self.assertEqual(rocktier("man").stdout,
                         json.loads(rocktier("man", "--json").stdout)["roff"])


class Installation(unittest.TestCase):

    def test_has_tool_manuals_and_completion(self):
        prefix = TMP + "/prefix"
        result = subprocess.run(["cmake", "--install", os.path.dirname(BIN), "--component",
                                 "rocktier", "--prefix", prefix], capture_output=True, text=True)
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        found = {os.path.relpath(folder + "/" + name, prefix)
                 for folder, _, names in os.walk(prefix) for name in names}
        self.assertEqual(
            {"bin/rocktier", "share/man/man1/rocktier.1",
             "share/bash-completion/completions/rocktier", "share/zsh/site-functions/_rocktier",
             "share/fish/vendor_completions.d/rocktier.fish"} |
            {"share/man/man1/rocktier-%s.1" % command["name"] for command in COMMANDS}, found)
        with open(prefix + "/share/man/man1/rocktier.1", encoding="utf-8") as file:
            self.assertEqual(rocktier("man").stdout, file.read())


def write():
    rows = table()
    assert not re.search(r"^.{101,}$", rows, re.MULTILINE), "a row is too long"
    _, wanted = page_with(rows)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(wanted)


if __name__ == "__main__":
    write() if "--write" in sys.argv else unittest.main(verbosity=2)
