/// The sets of `\p{Script=…}` and `\p{Script_Extensions=…}`.
enum PatternScripts {
    private struct Script {
        var characters: [ClosedRange<UInt32>]
        /// The characters that are in one of both sets, but not in the other.
        var differences: [ClosedRange<UInt32>]
    }

    /// The scripts by their names.
    private static let scripts: [String: Script] = {
        var found: [String: Script] = [:]
        for entry in PatternScriptData.text.split(separator: ";") {
            let words = entry.split(whereSeparator: \.isWhitespace)
            guard let middle = words.firstIndex(of: "=") else { continue }
            let bar = words.firstIndex(of: "|") ?? words.endIndex
            let script = Script(
                characters: ranges(words[(middle + 1)..<bar]), differences: ranges(words[bar...].dropFirst()))
            for name in words[..<middle] { found[String(name)] = script }
        }
        return found
    }()

    static func set(_ name: String, isExtended: Bool) -> PatternSet? {
        if name == "Unknown" || name == "Zzzz" { return PatternSet(scripts.values.flatMap(\.characters)).inverted }
        guard let script = scripts[name] else { return nil }
        let characters = PatternSet(script.characters)
        if !isExtended || script.differences.isEmpty { return characters }
        let differences = PatternSet(script.differences)
        return PatternSet(without(characters, differences) + without(differences, characters))
    }

    private static func without(_ set: PatternSet, _ other: PatternSet) -> [ClosedRange<UInt32>] {
        // The characters that are in the one set and not in the other: the complement of the union of its complement
        // and the other.
        PatternSet(set.inverted.ranges + other.ranges).inverted.ranges
    }

    /// Reads ranges: the distances from one to the next, and how many characters follow the first one, to the base 36.
    static func ranges(_ words: ArraySlice<Substring>) -> [ClosedRange<UInt32>] {
        var found: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        var words = words
        while let distance = words.popFirst(), let count = words.popFirst() {
            guard let distance = UInt32(distance, radix: 36), let count = UInt32(count, radix: 36) else { break }
            found.append(next + distance...next + distance + count)
            next += distance + count + 1
        }
        return found
    }
}
