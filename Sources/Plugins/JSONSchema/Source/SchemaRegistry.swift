import ErrandEssentials
import ErrandJSONSyntax
import ErrandJSONValidation
import ErrandMessageSyntax

final class SchemaRegistry {
    /// The anchor that `$recursiveAnchor` creates. No `$dynamicAnchor` can have this name.
    static let recursiveAnchor = "#"

    private(set) var documents: [SchemaDocument] = []
    var resources: [SchemaResource] = []
    var locations: [SchemaLocation: Int] = [:]
    var byURI: [String: Int] = [:]
    private let resolver: ((String) throws -> Data?)?
    private let standard: SchemaVocabulary
    private(set) var budget: CompileBudget
    let room = PatternRoom()
    var rootResources: [Int] = []
    private var pending: Set<String> = []

    init(dialect: JSONSchemaDialect, limits: JSONSchemaLimits, resolver: ((String) throws -> Data?)?) {
        budget = CompileBudget(steps: limits.maximumSteps, bytes: limits.maximumBytes)
        standard = SchemaVocabulary(dialect)
        self.resolver = resolver
    }

    func resource(_ location: SchemaLocation) -> Int { locations[location] ?? 0 }

    func fault(_ code: JSONSchemaError.Code, at location: SchemaLocation, reason: String) -> JSONSchemaError {
        let document = documents[location.document]
        return JSONSchemaError(code, uri: document.uri, pointer: document.pointer(location.value), reason: reason)
    }

    func spend(steps: Int, bytes: Int = 0, at location: SchemaLocation) throws(JSONSchemaError) {
        if budget.spend(steps: steps, bytes: bytes) { return }
        throw fault(.tooLarge, at: location, reason: budget.excess)
    }

    func mayTake(steps: Int, bytes: Int) -> Bool { budget.spend(steps: steps, bytes: bytes) }

    func pattern(_ source: String, at location: SchemaLocation) throws(JSONSchemaError) -> PatternProgram {
        do throws(PatternFault) { return try PatternProgram(source, budget: &budget, room: room) } catch {
            throw fault(
                error.kind == .tooLarge ? .tooLarge : .invalidPattern, at: location, reason: error.message(of: source))
        }
    }

    // MARK: Documents

    func add(_ data: Data, uri: String) throws(JSONSchemaError) -> SchemaLocation {
        if documents.count >= JSONSchema.maximumDocuments {
            throw JSONSchemaError(
                .tooLarge, uri: uri, pointer: "", reason: "has more than \(JSONSchema.maximumDocuments) documents")
        }
        let read: SchemaDocument?
        do { read = try SchemaDocument(data, uri: uri, &budget) } catch {
            let problem = error.problems.first
            let isLimit = problem?.kind == .limit
            throw JSONSchemaError(
                isLimit ? .tooLarge : .notJSON, uri: uri, pointer: problem?.pointer ?? "",
                reason: problem.map { "expected \($0.expected), found \($0.found) (byte \($0.offset))" }
                    ?? "is not JSON")
        }
        guard let document = read else {
            throw JSONSchemaError(.tooLarge, uri: uri, pointer: "", reason: budget.excess)
        }
        documents.append(document)
        let root = SchemaLocation(document: documents.count - 1, value: 0)
        let vocabulary = try vocabulary(of: root) ?? standard
        let resource = try makeResource(uri, at: root, vocabulary: vocabulary)
        rootResources.append(resource)
        try walk(root, resource, isLenient: false)
        return root
    }

    func makeResource(
        _ uri: String, at root: SchemaLocation, vocabulary: SchemaVocabulary
    ) throws(JSONSchemaError) -> Int {
        try spend(steps: 8, bytes: 256 + uri.utf8.count, at: root)
        resources.append(SchemaResource(uri: uri, root: root, vocabulary: vocabulary))
        if byURI[uri] == nil { byURI[uri] = resources.count - 1 }
        return resources.count - 1
    }

    func vocabulary(of location: SchemaLocation) throws(JSONSchemaError) -> SchemaVocabulary? {
        let document = documents[location.document]
        guard let value = document.member(location.value, "$schema") else { return nil }
        let here = SchemaLocation(document: location.document, value: value)
        guard let text = document.string(value) else {
            throw fault(.invalidKeyword, at: here, reason: "expected a string")
        }
        let uri = URIReference.resolve(text, against: "").uri
        if let known = SchemaVocabulary.standard(uri) { return known }
        // This metaschema is being loaded and describes itself. It uses the default dialect.
        if !pending.insert(uri).inserted { return standard }
        defer { pending.remove(uri) }
        guard let resource = try load(uri, here, code: .unknownDialect) else {
            throw fault(.unknownDialect, at: here, reason: "unknown dialect: \(MessageText.shown(text, limit: 200))")
        }
        let root = resources[resource].root
        let meta = documents[root.document]
        guard let list = meta.member(root.value, "$vocabulary") else { return resources[resource].vocabulary }
        let all = meta.members(list).map { member in
            (String(decoding: member.key, as: UTF8.self), meta.values[member.value].kind == .true)
        }
        let (found, unknown) = SchemaVocabulary.custom(all)
        guard let found else {
            throw fault(
                .unknownDialect, at: here,
                reason: "requires an unknown vocabulary: \(MessageText.shown(unknown, limit: 200))")
        }
        return found
    }

    func load(
        _ uri: String, _ location: SchemaLocation, code: JSONSchemaError.Code
    ) throws(JSONSchemaError) -> Int? {
        if let known = byURI[uri] { return known }
        if let text = Metaschemas.text(of: uri) {
            _ = try add(Data(text.utf8), uri: uri)
            return byURI[uri]
        }
        guard let resolver else { return nil }
        let data: Data?
        do { data = try resolver(uri) } catch {
            throw fault(
                code, at: location, reason: "the resolver failed for \(MessageText.shown(uri, limit: 200)): \(error)")
        }
        guard let data else { return nil }
        _ = try add(data, uri: uri)
        return byURI[uri]
    }

    // MARK: Schemas

    /// Registers the identifiers of a schema and of all schemas in it.
    func walk(_ location: SchemaLocation, _ resource: Int, isLenient: Bool) throws(JSONSchemaError) {
        let document = documents[location.document]
        var open: [(value: Int, resource: Int, isLenient: Bool)] = [(location.value, resource, isLenient)]
        while let next = open.popLast() {
            let value = next.value
            var (resource, isLenient) = (next.resource, next.isLenient)
            let here = SchemaLocation(document: location.document, value: value)
            if locations[here] != nil { continue }
            guard document.values[value].kind == .object else {
                if document.values[value].kind == .true || document.values[value].kind == .false {
                    locations[here] = resource
                } else if !isLenient, value != 0 {
                    throw fault(.invalidKeyword, at: here, reason: "expected a schema: an object or a boolean")
                }
                continue
            }
            try spend(steps: 4 + document.values[value].count, bytes: 80, at: here)
            resource = try identify(here, resource)
            locations[here] = resource
            let vocabulary = resources[resource].vocabulary
            if vocabulary.draft == .draft7, document.member(value, "$ref") != nil { isLenient = true }
            for (key, child) in document.members(value) {
                guard let position = vocabulary.position(of: String(decoding: key, as: UTF8.self)) else { continue }
                for schema in try schemas(
                    position, at: SchemaLocation(document: location.document, value: child), isLenient: isLenient)
                {
                    open.append((schema, resource, isLenient))
                }
            }
        }
    }

    private func schemas(
        _ position: SchemaVocabulary.Position, at location: SchemaLocation, isLenient: Bool
    ) throws(JSONSchemaError) -> [Int] {
        let document = documents[location.document]
        let kind = document.values[location.value].kind
        switch (position, kind) {
        case (.schema, _): return [location.value]
        case (.schemaOrList, .array): return Array(document.elements(location.value))
        case (.schemaOrList, _): return [location.value]
        case (.list, .array):
            if document.values[location.value].count == 0, !isLenient {
                throw fault(.invalidKeyword, at: location, reason: "expected at least one schema")
            }
            return Array(document.elements(location.value))
        case (.map, .object): return document.members(location.value).map(\.value)
        case (.dependencies, .object):
            return document.members(location.value).map(\.value).filter { document.values[$0].kind != .array }
        default:
            if isLenient { return [] }
            throw fault(
                .invalidKeyword, at: location,
                reason: position == .list ? "expected an array of schemas" : "expected an object of schemas")
        }
    }
}

extension SchemaRegistry {
    /// Returns the resource that the schema belongs to, and registers the schema's identifiers in it.
    func identify(_ location: SchemaLocation, _ outer: Int) throws(JSONSchemaError) -> Int {
        let resource = try takeID(of: location, in: outer)
        switch resources[resource].vocabulary.draft {
        case .draft7: break
        case .draft2019_09:
            try takeAnchor("$anchor", of: location, in: resource)
            try takeRecursiveAnchor(of: location, in: resource)
        case .draft2020_12:
            try takeAnchor("$anchor", of: location, in: resource)
            try takeAnchor("$dynamicAnchor", of: location, in: resource, isDynamic: true)
        }
        return resource
    }

    /// Returns the resource that `$id` names, or the outer resource without one. In draft 7, `$id` can also be an
    /// anchor.
    private func takeID(of location: SchemaLocation, in outer: Int) throws(JSONSchemaError) -> Int {
        let document = documents[location.document]
        let isDraft7 = resources[outer].vocabulary.draft == .draft7
        guard let value = document.member(location.value, "$id") else { return outer }
        // Draft 7 ignores `$id` next to `$ref`.
        if isDraft7, document.member(location.value, "$ref") != nil { return outer }
        let here = SchemaLocation(document: location.document, value: value)
        guard let text = document.string(value) else {
            throw fault(.invalidKeyword, at: here, reason: "expected a string")
        }
        try spend(steps: (text.utf8.count + resources[outer].uri.utf8.count) * 4, at: here)
        let (uri, fragment) = URIReference.resolve(text, against: resources[outer].uri)
        if let fragment, !fragment.isEmpty {
            if !isDraft7 { throw fault(.invalidKeyword, at: here, reason: "expected a URI without a fragment") }
            resources[outer].anchors[fragment] = location
        }
        if text.hasPrefix("#") { return outer }
        if resources[outer].root == location {
            resources[outer].uri = uri
            if byURI[uri] == nil { byURI[uri] = outer }
            return outer
        }
        let vocabulary = try vocabulary(of: location) ?? resources[outer].vocabulary
        if let known = byURI[uri], resources[known].root != location,
            resources[known].root.document == location.document
        {
            throw fault(.invalidKeyword, at: here, reason: "another schema has this URI")
        }
        return try makeResource(uri, at: location, vocabulary: vocabulary)
    }

    private func takeAnchor(
        _ keyword: String, of location: SchemaLocation, in resource: Int, isDynamic: Bool = false
    ) throws(JSONSchemaError) {
        let document = documents[location.document]
        guard let value = document.member(location.value, keyword) else { return }
        let here = SchemaLocation(document: location.document, value: value)
        guard let name = document.string(value), Self.isAnchor(name) else {
            throw fault(
                .invalidKeyword, at: here, reason: "expected a name of letters, digits, \"-\", \"_\" and \".\"")
        }
        if let other = resources[resource].anchors[name], other != location {
            throw fault(.invalidKeyword, at: here, reason: "another schema of this resource has this anchor")
        }
        try spend(steps: 4, bytes: 128 + name.utf8.count, at: here)
        resources[resource].anchors[name] = location
        if isDynamic { resources[resource].dynamicAnchors[name] = location }
    }

    private func takeRecursiveAnchor(of location: SchemaLocation, in resource: Int) throws(JSONSchemaError) {
        let document = documents[location.document]
        guard let value = document.member(location.value, "$recursiveAnchor") else { return }
        guard document.values[value].kind == .true || document.values[value].kind == .false else {
            throw fault(
                .invalidKeyword, at: SchemaLocation(document: location.document, value: value),
                reason: "expected a boolean")
        }
        if document.values[value].kind == .true, resources[resource].root == location {
            resources[resource].dynamicAnchors[Self.recursiveAnchor] = location
        }
    }

    private static func isAnchor(_ name: String) -> Bool {
        var bytes = name.utf8.makeIterator()
        guard let first = bytes.next(), ASCII.isLetter(first) || first == 0x5F else { return false }
        while let byte = bytes.next() {
            guard ASCII.isLetter(byte) || JSONGrammar.isDigit(byte) || byte == 0x2D || byte == 0x5F || byte == 0x2E
            else {
                return false
            }
        }
        return true
    }
}

extension SchemaRegistry {
    /// Returns the reference's target and the name of its anchor, if it has one.
    func resolve(
        _ reference: String, from resource: Int, at location: SchemaLocation
    ) throws(JSONSchemaError) -> (location: SchemaLocation, anchor: String?) {
        let isLocal = reference.isEmpty || reference.hasPrefix("#")
        let base = isLocal ? "" : resources[resource].uri
        try spend(steps: 20 + reference.utf8.count + base.utf8.count * 4, at: location)
        let (uri, fragment) =
            isLocal ? ("", String(reference.dropFirst())) : URIReference.resolve(reference, against: base)
        func missing(_ why: String) -> JSONSchemaError {
            fault(.unresolvedReference, at: location, reason: "\(MessageText.shown(reference, limit: 200)) \(why)")
        }
        let target: Int
        if isLocal {
            target = resource
        } else {
            guard let found = try load(uri, location, code: .unresolvedReference) else {
                throw missing(
                    "refers to an unknown document; return it from the resolver: \(MessageText.shown(uri, limit: 200))")
            }
            target = found
        }
        guard let fragment, !fragment.isEmpty else { return (try visited(resources[target].root, location), nil) }
        guard let bytes = PercentEncoding.bytes(fragment) else {
            throw missing("has a fragment with invalid percent-encoding")
        }
        if bytes.first == UInt8(ascii: "/") {
            let root = resources[target].root
            guard let value = documents[root.document].find(bytes, from: root.value) else {
                throw missing("doesn't point to a value")
            }
            return (try visited(SchemaLocation(document: root.document, value: value), location), nil)
        }
        let name = String(decoding: bytes, as: UTF8.self)
        guard let found = resources[target].anchors[name] else { throw missing("names an unknown anchor") }
        return (found, name)
    }

    /// If the location is inside an unknown keyword, registers it first.
    func visited(_ location: SchemaLocation, _ origin: SchemaLocation) throws(JSONSchemaError) -> SchemaLocation {
        if locations[location] != nil { return location }
        let values = documents[location.document].values
        switch values[location.value].kind {
        case .object, .true, .false: break
        default: throw fault(.unresolvedReference, at: origin, reason: "points to a value that isn't a schema")
        }
        var outer = values[location.value].parent
        while outer >= 0, locations[SchemaLocation(document: location.document, value: outer)] == nil {
            outer = values[outer].parent
        }
        let resource = outer < 0 ? nil : locations[SchemaLocation(document: location.document, value: outer)]
        try walk(location, resource ?? rootResources[location.document], isLenient: false)
        return location
    }

    func schemas(of document: Int) -> [SchemaLocation] {
        locations.keys.filter { $0.document == document }.sorted { $0.value < $1.value }
    }
}
