"""Recorded traffic against the published description; see validate-traffic."""

import collections
import functools
import json
import pathlib
import sys

from jsonschema import Draft202012Validator

# What the description has of the gateway's payloads, by event: (the field of the payload, the schema).
GATEWAY = {
    "MESSAGE_CREATE": [("", "MessageResponse")],
    "MESSAGE_UPDATE": [("", "MessageResponse")],
    "CHANNEL_CREATE": [("", "GuildChannelResponse")],
    "CHANNEL_UPDATE": [("", "GuildChannelResponse")],
    "CHANNEL_DELETE": [("", "GuildChannelResponse")],
    "THREAD_CREATE": [("", "ThreadResponse")],
    "THREAD_UPDATE": [("", "ThreadResponse")],
    "THREAD_MEMBER_UPDATE": [("", "ThreadMemberResponse")],
    "THREAD_MEMBERS_UPDATE": [("added_members.*", "ThreadMemberResponse")],
    "GUILD_MEMBER_ADD": [("", "GuildMemberResponse")],
    "GUILD_MEMBER_UPDATE": [("", "GuildMemberResponse")],
    "GUILD_MEMBERS_CHUNK": [("members.*", "GuildMemberResponse")],
    "GUILD_ROLE_CREATE": [("role", "GuildRoleResponse")],
    "GUILD_CREATE": [
        ("", "GuildResponse"),
        ("channels.*", "GuildChannelResponse"),
        ("threads.*", "ThreadResponse"),
        ("members.*", "GuildMemberResponse"),
    ],
    "READY": [("user", "UserPIIResponse")],
    "INTERACTION_CREATE": [
        ("member.user", "UserResponse"),
        ("member", "GuildMemberResponse"),
        ("user", "UserResponse"),
        ("message", "MessageResponse"),
        ("data.resolved.messages.*", "MessageResponse"),
        ("data.resolved.users.*", "UserResponse"),
    ],
    "MESSAGE_REACTION_ADD": [("member", "GuildMemberResponse")],
    "TYPING_START": [("member", "GuildMemberResponse")],
}

# Where Discord's documentation and what it takes are wider than its description: (where, field, words of the reason).
WIDER = [
    # The documentation's own examples have words here, such as BASE_TYPE_REQUIRED.
    (" answer", "_errors/*/code", "is not of type 'integer'"),
    # An attachment that comes with the request is named by its number, also as a number.
    (" request", "attachments/*/id", "is not of type 'string'"),
    # The documentation has a second type, 1, for a forwarded message.
    ("", "message_reference/type", "0 was expected"),
]

# How many kinds of mismatch are told.
TOLD = 20


def pick(value, path):
    """The parts of a payload at a dotted path; `*` is every one of a list or of a map."""
    if path == "":
        return [value]
    first, _, rest = path.partition(".")
    if first == "*":
        inner = value.values() if isinstance(value, dict) else value
        return [found for part in inner for found in pick(part, rest)]
    if not isinstance(value, dict) or first not in value:
        return []
    return pick(value[first], rest)


class Checker:
    def __init__(self, description):
        self.description = description
        self.checked = collections.Counter()
        self.mismatches = collections.OrderedDict()

    @functools.cache
    def validator(self, pointer):
        schema = {"$ref": pointer, "components": self.description["components"], "paths": self.description["paths"]}
        return Draft202012Validator(schema)

    def fail(self, where, reason, line):
        self.mismatches.setdefault((where, reason), []).append(line)

    def hold(self, where, pointer, value, line):
        self.checked[where] += 1
        for error in self.validator(pointer).iter_errors(value):
            deepest = self.deepest(error)
            field = "/".join("*" if isinstance(part, int) else str(part) for part in deepest.absolute_path)
            reason = deepest.message
            if any(where.endswith(of) and field.endswith(at) and words in reason for of, at, words in WIDER):
                continue
            self.fail(where, f"{field or '(whole)'}: {reason[:200]}", line)

    @staticmethod
    def deepest(error):
        """Of the alternatives of a union, the one that came nearest."""
        while error.context:
            error = max(error.context, key=lambda inner: (len(inner.absolute_path), inner.validator != "type"))
        return error

    def rest(self, record, line):
        method, route, status = record["method"], record["route"], record["status"]
        where = f"{method} {route}"
        if route is None:
            if 200 <= status < 300:
                self.fail(f"{method} {record['path']}", "an address that the server does not know was answered", line)
            return
        operation = self.description["paths"].get(route, {}).get(method.lower())
        if operation is None:
            self.fail(where, "the description has no such operation", line)
            return
        if record["staged"]:
            return
        self.request(where, operation, record, line)
        self.answer(where, operation, record, line)

    def request(self, where, operation, record, line):
        # A refused request was wrong on purpose, or is the client's own fault and fails its test.
        if record["request"] is None or record["status"] in (400, 401):
            return
        content = operation.get("requestBody", {}).get("content", {})
        kind = "application/json"
        if kind not in content:
            self.fail(f"{where} request", f"the description has no body of {kind}", line)
            return
        pointer = self.pointer(operation, record, "requestBody", None, kind)
        self.hold(f"{where} request", pointer, record["request"], line)

    def answer(self, where, operation, record, line):
        status, body = record["status"], record["answer"]
        responses = operation["responses"]
        key = str(status) if str(status) in responses else f"{status // 100}XX"
        if key not in responses:
            self.fail(f"{where} answer", f"the description has no status {status}", line)
            return
        response = responses[key]
        if "$ref" in response:
            name = response["$ref"].rsplit("/", 1)[-1]
            response = self.description["components"]["responses"][name]
            pointer = f"#/components/responses/{name}/content/application~1json/schema"
        else:
            pointer = self.pointer(operation, record, "responses", key, "application/json")
        content = response.get("content", {}).get("application/json")
        if content is None:
            if body is not None:
                self.fail(f"{where} answer", f"status {status} has no body", line)
            self.checked[f"{where} answer"] += 1
            return
        self.hold(f"{where} answer", pointer, body, line)

    def pointer(self, operation, record, part, key, kind):
        route = record["route"].replace("~", "~0").replace("/", "~1").replace("{", "%7B").replace("}", "%7D")
        steps = ["paths", route, record["method"].lower(), part]
        if key is not None:
            steps.append(key)
        steps += ["content", kind.replace("/", "~1"), "schema"]
        return "#/" + "/".join(steps)

    def gateway(self, record, line):
        payload = record["payload"]
        if record["direction"] != "out" or payload.get("op") != 0:
            return
        event = payload["t"]
        for path, schema in GATEWAY.get(event, []):
            for part in pick(payload["d"], path):
                where = f"{event} {path}".strip()
                self.hold(where, f"#/components/schemas/{schema}", part, line)


def main():
    description = json.loads(pathlib.Path(sys.argv[1]).read_text())
    checker = Checker(description)
    lines = 0
    for folder in sys.argv[2:]:
        for file in sorted(pathlib.Path(folder).glob("*.jsonl")):
            with file.open() as records:
                for number, text in enumerate(records, 1):
                    lines += 1
                    record = json.loads(text)
                    line = f"{file}:{number}"
                    if record["kind"] == "rest":
                        checker.rest(record, line)
                    else:
                        checker.gateway(record, line)
    if lines == 0 or not checker.checked:
        sys.exit("validate-traffic: there was no traffic")
    total = sum(checker.checked.values())
    print(f"{lines} lines, {total} bodies of {len(checker.checked)} kinds held against the description")
    if checker.mismatches:
        for (where, reason), found in list(checker.mismatches.items())[:TOLD]:
            print(f"  {where}: {reason} ({len(found)} times, first {found[0]})")
        sys.exit(f"validate-traffic: {len(checker.mismatches)} kinds of mismatch")


main()
