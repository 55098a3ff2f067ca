import Foundation

/// Finds members that look like requirements of the type's protocols but don't implement them.
///
/// The compiler knows which members implement a requirement. The rest are compared by name: if a type uses a
/// requirement's default and has a member of the same name, that member has a different type or is static.
struct RequirementCheck {
    /// A member, and the requirement it was probably meant to implement.
    struct Finding {
        let member: Member
        let requirement: Member
        let protocolName: String

        var hasSameName: Bool { member.baseName == requirement.baseName }

        /// Whether the member's line has the comment `// not a requirement`.
        var isIntended: Bool {
            guard let location = member.symbol.location,
                let text = try? String(contentsOfFile: location.path, encoding: .utf8)
            else { return false }
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            guard lines.indices.contains(location.position.line) else { return false }
            return lines[location.position.line].contains("// not a requirement")
        }
    }

    private var requirements: [String: [Member]] = [:]
    private var protocolNames: [String: String] = [:]
    /// The protocols of each type, also of types in modules that aren't checked themselves.
    private var conformances: [String: Set<String>] = [:]

    /// - Parameters:
    ///   - graphs: the graphs of the modules whose protocols are checked.
    ///   - others: all other graphs, whose types the checked modules may extend.
    init(_ graphs: [SymbolGraph], and others: [SymbolGraph] = []) {
        for graph in graphs {
            let symbols = Dictionary(graph.symbols.map { ($0.identifier.precise, $0) }) { first, _ in first }
            for symbol in graph.symbols where symbol.kind.identifier == "swift.protocol" {
                protocolNames[symbol.identifier.precise] = symbol.pathComponents.joined(separator: ".")
                conformances[symbol.identifier.precise] = [symbol.identifier.precise]
            }
            for each in graph.relationships where each.kind == "requirementOf" {
                guard let member = symbols[each.source].flatMap(Member.init) else { continue }
                requirements[each.target, default: []].append(member)
            }
        }
        for each in (graphs + others).flatMap(\.relationships)
        where each.kind == "conformsTo" && protocolNames[each.target] != nil {
            conformances[each.source, default: []].insert(each.target)
        }
    }

    /// The problems in a module's types, in source order.
    func findings(in graphs: [SymbolGraph]) -> [Finding] {
        let symbols = Dictionary(
            graphs.flatMap(\.symbols).map { ($0.identifier.precise, $0) }
        ) { first, _ in first }
        let relationships = graphs.flatMap(\.relationships)
        let overrides = Set(relationships.filter { $0.kind == "overrides" }.map(\.source))
        let known = Set(requirements.values.joined().map(\.id))
        var members: [String: [(member: Member, implemented: String?)]] = [:]
        for each in relationships
        where ["memberOf", "defaultImplementationOf", "requirementOf"].contains(each.kind) {
            guard let member = symbols[each.source].flatMap(Member.init) else { continue }
            members[each.target, default: []].append((member, each.sourceOrigin?.identifier))
        }
        var findings: [Finding] = []
        for (type, own) in members {
            let protocols = (conformances[type] ?? []).sorted { protocolNames[$0] ?? "" < protocolNames[$1] ?? "" }
            let implemented = Set(own.compactMap(\.implemented))
            // The compiler lists no requirement for members of a protocol extension.
            let isProtocol = symbols[type]?.kind.identifier ?? "swift.protocol" == "swift.protocol"
            for (member, requirement) in own where !overrides.contains(member.id) {
                // Debug builds repeat the requirements in `_RequestMemberTypes` with associated types, which a member
                // of any type implements.
                if let requirement, known.contains(requirement) || !requirement.contains("_RequestMemberTypes") {
                    continue
                }
                if isProtocol || requirement != nil,
                    protocols.contains(where: { Self.implements(member, in: requirements[$0]) })
                {
                    continue
                }
                let finding = protocols.lazy.compactMap { name -> Finding? in
                    let open = (requirements[name] ?? []).filter { !implemented.contains($0.id) }
                    guard let meant = Self.requirement(meantBy: member, among: open) else { return nil }
                    return Finding(member: member, requirement: meant, protocolName: protocolNames[name] ?? name)
                }.first
                if let finding, !finding.isIntended { findings.append(finding) }
            }
        }
        return findings.sorted { Self.place(of: $0) < Self.place(of: $1) }
    }

    private static func place(of finding: Finding) -> (String, Int, Int, String) {
        let symbol = finding.member.symbol
        guard let location = symbol.location else { return ("", 0, 0, symbol.pathComponents.joined(separator: ".")) }
        return (location.uri, location.position.line, location.position.character, "")
    }

    /// Whether a member of a protocol extension is a requirement's default, judging by names and property types.
    private static func implements(_ member: Member, in requirements: [Member]?) -> Bool {
        requirements?.contains {
            $0.kind == member.kind && $0.isStatic == member.isStatic && $0.name == member.name
                && $0.valueType == member.valueType
        } == true
    }

    /// The requirement that a member was probably meant to implement, among the requirements the type leaves open.
    static func requirement(meantBy member: Member, among open: [Member]) -> Member? {
        open.first { isSameName(member, $0) } ?? open.first { isSimilar(member, $0) }
    }

    /// Whether the names match. A method with parameters can't be meant as a property. A method with other parameters
    /// counts if it has as many, lacks some of them, or has similar labels: otherwise it's an overload.
    private static func isSameName(_ member: Member, _ requirement: Member) -> Bool {
        guard member.baseName == requirement.baseName else { return false }
        switch (member.kind, requirement.kind) {
        case (.method, .property): return member.name.hasSuffix("()")
        case (.method, .method):
            return member.isStatic == requirement.isStatic
                && (member.parameters.count == requirement.parameters.count
                    || isSubsequence(member.parameters, of: requirement.parameters)
                    || distance(member.name, requirement.name) <= 2)
        default: return true
        }
    }

    /// Whether the parameters in `some`, at least one, occur in `all` in the same order.
    private static func isSubsequence(_ some: [String], of all: [String]) -> Bool {
        var rest = some[...]
        for parameter in all where rest.first == parameter { rest.removeFirst() }
        return rest.isEmpty && !some.isEmpty
    }

    /// Whether a name is a typo of the requirement's name: one letter off, or two if both are long, with everything
    /// else the same.
    private static func isSimilar(_ member: Member, _ requirement: Member) -> Bool {
        guard member.kind == requirement.kind, member.isStatic == requirement.isStatic else { return false }
        let (name, meant) = (member.baseName, requirement.baseName)
        let isSlip =
            name.lowercased() == meant.lowercased()
            || distance(name.lowercased(), meant.lowercased()) <= (min(name.count, meant.count) > 5 ? 2 : 1)
        guard isSlip else { return false }
        switch member.kind {
        case .property: return member.wrappedType == requirement.wrappedType
        case .method:
            // A typo in a long name counts even if the parameters' types differ, too.
            return member.parameters == requirement.parameters
                || meant.count > 9 && member.name.dropFirst(name.count) == requirement.name.dropFirst(meant.count)
        case .type: return true
        }
    }

    /// The edit distance in letters: insertions, deletions, replacements, and swaps of neighbors.
    static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a), Array(b))
        if abs(a.count - b.count) > 2 { return 3 }
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}

extension RequirementCheck.Finding: CustomStringConvertible {
    /// In the compiler's error format, so editors can jump to the location.
    var description: String {
        let path = member.symbol.pathComponents
        let type = path.dropLast().joined(separator: ".")
        let place =
            member.symbol.location.map { location in
                "\(location.path):\(location.position.line + 1):\(location.position.character + 1)"
            } ?? type
        let meant = requirement.kind == .type ? "'typealias \(requirement.name) = …'" : "'\(requirement.declaration)'"
        let cause =
            hasSameName
            ? "isn't the '\(requirement.name)' that \(protocolName) requires"
            : "isn't a requirement of \(protocolName), but '\(requirement.name)' is"
        return "\(place): error: '\(member.name)' of \(type) \(cause): the default is used unless you write \(meant)"
    }
}
