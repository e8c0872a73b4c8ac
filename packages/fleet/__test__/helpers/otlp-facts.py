"""Reads requests with profiles by the classes of OpenTelemetry, checks them, and prints facts of each as JSON.

Reads JSON from stdin: a list of files, each of which has a request without compression.
"""

import json
import sys

from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2


def no_duplicates(entries, name):
    texts = [entry if isinstance(entry, str) else entry.SerializeToString(deterministic=True) for entry in entries]
    assert len(set(texts)) == len(texts), f"duplicates in the table of {name}"


def facts_of(file):
    with open(file, "rb") as opened:
        content = opened.read()
    request = profiles_service_pb2.ExportProfilesServiceRequest()
    request.ParseFromString(content)
    # A field that the classes do not know would be lost.
    assert len(request.SerializeToString()) == len(content), "unknown fields"
    tables = request.dictionary
    names = ["mapping", "location", "function", "link", "string", "attribute", "stack"]
    used = {name: {0} for name in names}
    for name in names:
        table = getattr(tables, f"{name}_table")
        zero = "" if name == "string" else type(table[0])()
        assert table[0] == zero, f"the table of {name} has no zero value"
        no_duplicates(table, name)

    def entry(name, index):
        table = getattr(tables, f"{name}_table")
        assert 0 <= index < len(table), f"{name} {index} of {len(table)}"
        used[name].add(index)
        return table[index]

    def value_of(value):
        return getattr(value, value.WhichOneof("value"))

    def attributes_of(indices):
        pairs = {}
        for index in indices:
            attribute = entry("attribute", index)
            key = entry("string", attribute.key_strindex)
            assert key != "" and key not in pairs, f"the key {key} is twice"
            pairs[key] = value_of(attribute.value)
        return pairs

    def type_of(value):
        return f"{entry('string', value.type_strindex)}/{entry('string', value.unit_strindex)}"

    facts = {"profiles": [], "resource": {}, "scope": ""}
    for resource_profiles in request.resource_profiles:
        for attribute in resource_profiles.resource.attributes:
            assert attribute.key not in facts["resource"], f"the key {attribute.key} is twice"
            facts["resource"][attribute.key] = value_of(attribute.value)
        for scope_profiles in resource_profiles.scope_profiles:
            facts["scope"] = f"{scope_profiles.scope.name} {scope_profiles.scope.version}"
            for profile in scope_profiles.profiles:
                facts["profiles"].append(profile_of(profile, entry, attributes_of, type_of))
    for name in names:
        length = len(getattr(tables, f"{name}_table"))
        assert len(used[name]) == length, f"{length - len(used[name])} {name} without a use"
    return facts


def profile_of(profile, entry, attributes_of, type_of):
    self_values, totals, attributes, keys = {}, {}, {}, set()
    for sample in profile.samples:
        assert len(sample.values) == 1 and sample.values[0] > 0
        key = (sample.stack_index, tuple(sorted(sample.attribute_indices)))
        assert sample.stack_index > 0 and key not in keys, "a sample is twice"
        keys.add(key)
        value = sample.values[0]
        for name, text in attributes_of(sample.attribute_indices).items():
            of_key = attributes.setdefault(name, {})
            of_key[str(text)] = of_key.get(str(text), 0) + value
        functions = []
        for location_index in entry("stack", sample.stack_index).location_indices:
            location = entry("location", location_index)
            assert attributes_of(location.attribute_indices) == {"profile.frame.type": "v8js"}
            mapping = entry("mapping", location.mapping_index)
            assert entry("string", mapping.filename_strindex) == "node"
            [line] = location.lines
            function = entry("function", line.function_index)
            entry("string", function.system_name_strindex)
            assert line.line >= function.start_line
            file = entry("string", function.filename_strindex)
            functions.append(f"{entry('string', function.name_strindex)} {file}:{function.start_line}")
        self_values[functions[0]] = self_values.get(functions[0], 0) + value
        for function in set(functions):
            totals[function] = totals.get(function, 0) + value
    assert len(profile.profile_id) == 16 and any(profile.profile_id)
    return {
        "type": type_of(profile.sample_type),
        "periodType": type_of(profile.period_type),
        "period": profile.period,
        "timeNanos": profile.time_unix_nano,
        "durationNanos": profile.duration_nano,
        "id": profile.profile_id.hex(),
        "self": self_values,
        "totals": totals,
        "attributes": attributes,
        "sum": sum(self_values.values()),
    }


json.dump([facts_of(file) for file in json.load(sys.stdin)], sys.stdout)
