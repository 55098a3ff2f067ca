import ErrandEssentials
import ErrandHTTPSyntax
import ErrandJSONValidation

/// A value in one of the documents.
struct SchemaPlace: Hashable, Sendable {
    var document: Int
    var value: Int
}

/// A schema with a URI of its own, and its anchors.
struct SchemaResource {
    var uri: String
    var root: SchemaPlace
    var vocabulary: SchemaVocabulary
    var anchors: [String: SchemaPlace] = [:]
    var dynamicAnchors: [String: SchemaPlace] = [:]
}

/// All documents that a schema consists of, with the resources in them, and what references lead to.
final class SchemaRegistry {
    /// The name of the anchor that `$recursiveAnchor` makes, which no `$dynamicAnchor` can have.
    static let recursiveAnchor = "#"

    private(set) var documents: [SchemaDocument] = []
    private(set) var resources: [SchemaResource] = []
    private var places: [SchemaPlace: Int] = [:]
    private var byURI: [String: Int] = [:]
    private let resolver: ((String) throws -> Data?)?
    private let standard: SchemaVocabulary
    /// The remaining budget of compiling.
    private(set) var budget: CompileBudget
    /// The tables of all patterns.
    let room = PatternRoom()
    /// The resource of the root of each document.
    private var rootResources: [Int] = []
    /// The metaschemas whose vocabularies are being read.
    private var pending: Set<String> = []

    init(dialect: JSONSchemaDialect, limits: JSONSchemaLimits, resolver: ((String) throws -> Data?)?) {
        budget = CompileBudget(steps: limits.maximumSteps, bytes: limits.maximumBytes)
        standard = SchemaVocabulary(dialect)
        self.resolver = resolver
    }

    func resource(_ place: SchemaPlace) -> Int { places[place] ?? 0 }

    func fault(_ code: JSONSchemaError.Code, _ place: SchemaPlace, _ reason: String) -> JSONSchemaError {
        let document = documents[place.document]
        return JSONSchemaError(code, uri: document.uri, pointer: document.pointer(place.value), reason: reason)
    }

    /// Counts what is taken for a place; throws if it is too much.
    func spend(steps: Int, bytes: Int = 0, at place: SchemaPlace) throws(JSONSchemaError) {
        if budget.spend(steps: steps, bytes: bytes) { return }
        throw fault(.tooLarge, place, budget.excess)
    }

    /// A pattern, which takes from the budget.
    func pattern(_ source: String, at place: SchemaPlace) throws(JSONSchemaError) -> PatternProgram {
        do throws(PatternFault) { return try PatternProgram(source, &budget, room) } catch {
            throw fault(error.kind == .tooLarge ? .tooLarge : .invalidPattern, place, error.message(of: source))
        }
    }

    // MARK: Documents

    /// Adds a document, and returns its root.
    func add(_ data: Data, uri: String) throws(JSONSchemaError) -> SchemaPlace {
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
        let root = SchemaPlace(document: documents.count - 1, value: 0)
        let vocabulary = try vocabulary(of: root) ?? standard
        let resource = try makeResource(uri, root, vocabulary)
        rootResources.append(resource)
        try walk(root, resource, isLenient: false)
        return root
    }

    private func makeResource(
        _ uri: String, _ root: SchemaPlace, _ vocabulary: SchemaVocabulary
    ) throws(JSONSchemaError) -> Int {
        try spend(steps: 8, bytes: 256 + uri.utf8.count, at: root)
        resources.append(SchemaResource(uri: uri, root: root, vocabulary: vocabulary))
        if byURI[uri] == nil { byURI[uri] = resources.count - 1 }
        return resources.count - 1
    }

    /// The vocabulary that `$schema` names; nil without one.
    private func vocabulary(of place: SchemaPlace) throws(JSONSchemaError) -> SchemaVocabulary? {
        let document = documents[place.document]
        guard let value = document.member(place.value, "$schema") else { return nil }
        let here = SchemaPlace(document: place.document, value: value)
        guard let text = document.string(value) else { throw fault(.invalidKeyword, here, "expected a string") }
        let uri = URIReference.resolve(text, against: "").uri
        if let known = SchemaVocabulary.standard(uri) { return known }
        // A metaschema that describes itself.
        if !pending.insert(uri).inserted { return standard }
        defer { pending.remove(uri) }
        guard let resource = try load(uri, here, code: .unknownDialect) else {
            throw fault(.unknownDialect, here, "the dialect is not known: \(MessageText.shown(text, limit: 200))")
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
                .unknownDialect, here, "requires an unknown vocabulary: \(MessageText.shown(unknown, limit: 200))")
        }
        return found
    }

    /// The resource of a URI, from the documents, the metaschemas or the resolver.
    private func load(
        _ uri: String, _ place: SchemaPlace, code: JSONSchemaError.Code
    ) throws(JSONSchemaError) -> Int? {
        if let known = byURI[uri] { return known }
        if let text = Metaschemas.text(of: uri) {
            _ = try add(Data(text.utf8), uri: uri)
            return byURI[uri]
        }
        guard let resolver else { return nil }
        let data: Data?
        do { data = try resolver(uri) } catch {
            throw fault(code, place, "the resolver failed for \(MessageText.shown(uri, limit: 200)): \(error)")
        }
        guard let data else { return nil }
        _ = try add(data, uri: uri)
        return byURI[uri]
    }

    // MARK: Schemas

    /// Visits a schema and all schemas in it, and registers their identifiers.
    private func walk(_ place: SchemaPlace, _ resource: Int, isLenient: Bool) throws(JSONSchemaError) {
        let document = documents[place.document]
        var open: [(value: Int, resource: Int, isLenient: Bool)] = [(place.value, resource, isLenient)]
        while let next = open.popLast() {
            let value = next.value
            var (resource, isLenient) = (next.resource, next.isLenient)
            let here = SchemaPlace(document: place.document, value: value)
            if places[here] != nil { continue }
            guard document.values[value].kind == .object else {
                if document.values[value].kind == .true || document.values[value].kind == .false {
                    places[here] = resource
                } else if !isLenient, value != 0 {
                    throw fault(.invalidKeyword, here, "expected a schema: an object or a boolean")
                }
                continue
            }
            try spend(steps: 4 + document.values[value].count, bytes: 80, at: here)
            resource = try identify(here, resource)
            places[here] = resource
            let vocabulary = resources[resource].vocabulary
            if vocabulary.draft == .draft7, document.member(value, "$ref") != nil { isLenient = true }
            for (key, child) in document.members(value) {
                guard let position = vocabulary.position(of: String(decoding: key, as: UTF8.self)) else { continue }
                for schema in try schemas(position, SchemaPlace(document: place.document, value: child), isLenient) {
                    open.append((schema, resource, isLenient))
                }
            }
        }
    }

    private func schemas(
        _ position: SchemaVocabulary.Position, _ place: SchemaPlace, _ isLenient: Bool
    ) throws(JSONSchemaError) -> [Int] {
        let document = documents[place.document]
        let kind = document.values[place.value].kind
        switch (position, kind) {
        case (.schema, _): return [place.value]
        case (.schemaOrList, .array): return Array(document.elements(place.value))
        case (.schemaOrList, _): return [place.value]
        case (.list, .array):
            if document.values[place.value].count == 0, !isLenient {
                throw fault(.invalidKeyword, place, "expected at least one schema")
            }
            return Array(document.elements(place.value))
        case (.map, .object): return document.members(place.value).map(\.value)
        case (.dependencies, .object):
            return document.members(place.value).map(\.value).filter { document.values[$0].kind != .array }
        default:
            if isLenient { return [] }
            throw fault(
                .invalidKeyword, place,
                position == .list ? "expected an array of schemas" : "expected an object of schemas")
        }
    }

    /// Reads `$id`, `$anchor` and the like; returns the resource that the schema belongs to.
    private func identify(_ place: SchemaPlace, _ outer: Int) throws(JSONSchemaError) -> Int {
        let document = documents[place.document]
        var resource = outer
        var draft = resources[outer].vocabulary.draft
        let isRoot = resources[outer].root == place
        // Beside $ref in draft 7 it means nothing.
        if let value = document.member(place.value, "$id"),
            draft != .draft7 || document.member(place.value, "$ref") == nil
        {
            let here = SchemaPlace(document: place.document, value: value)
            guard let text = document.string(value) else { throw fault(.invalidKeyword, here, "expected a string") }
            try spend(steps: (text.utf8.count + resources[outer].uri.utf8.count) * 4, at: here)
            let (uri, fragment) = URIReference.resolve(text, against: resources[outer].uri)
            if let fragment, !fragment.isEmpty {
                if draft != .draft7 { throw fault(.invalidKeyword, here, "expected a URI without a fragment") }
                resources[outer].anchors[fragment] = place
            }
            if !text.hasPrefix("#"), !(isRoot && uri == resources[outer].uri) {
                if isRoot {
                    resources[outer].uri = uri
                    if byURI[uri] == nil { byURI[uri] = outer }
                } else {
                    let vocabulary = try vocabulary(of: place) ?? resources[outer].vocabulary
                    draft = vocabulary.draft
                    if let known = byURI[uri], resources[known].root != place,
                        resources[known].root.document == place.document
                    {
                        throw fault(.invalidKeyword, here, "another schema has this URI")
                    }
                    resource = try makeResource(uri, place, vocabulary)
                }
            }
        }
        if draft == .draft7 { return resource }
        for (keyword, isDynamic) in [("$anchor", false), ("$dynamicAnchor", true)] {
            if isDynamic, draft != .draft2020_12 { continue }
            guard let value = document.member(place.value, keyword) else { continue }
            let here = SchemaPlace(document: place.document, value: value)
            guard let name = document.string(value), Self.isAnchor(name) else {
                throw fault(.invalidKeyword, here, "expected a name of letters, digits, \"-\", \"_\" and \".\"")
            }
            if let other = resources[resource].anchors[name], other != place {
                throw fault(.invalidKeyword, here, "another schema of this resource has this anchor")
            }
            try spend(steps: 4, bytes: 128 + name.utf8.count, at: here)
            resources[resource].anchors[name] = place
            if isDynamic { resources[resource].dynamicAnchors[name] = place }
        }
        if draft == .draft2019_09, let value = document.member(place.value, "$recursiveAnchor") {
            guard document.values[value].kind == .true || document.values[value].kind == .false else {
                throw fault(.invalidKeyword, SchemaPlace(document: place.document, value: value), "expected a boolean")
            }
            if document.values[value].kind == .true, resources[resource].root == place {
                resources[resource].dynamicAnchors[Self.recursiveAnchor] = place
            }
        }
        return resource
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

    // MARK: References

    /// The schema that a reference leads to, from the resource that the reference is in, and the name of its anchor.
    func resolve(
        _ reference: String, from resource: Int, at place: SchemaPlace
    ) throws(JSONSchemaError) -> (place: SchemaPlace, anchor: String?) {
        // One within the resource needs no URI.
        let isLocal = reference.isEmpty || reference.hasPrefix("#")
        let base = isLocal ? "" : resources[resource].uri
        try spend(steps: 20 + reference.utf8.count + base.utf8.count * 4, at: place)
        let (uri, fragment) =
            isLocal ? ("", String(reference.dropFirst())) : URIReference.resolve(reference, against: base)
        func missing(_ why: String) -> JSONSchemaError {
            fault(.unresolvedReference, place, "\(MessageText.shown(reference, limit: 200)) \(why)")
        }
        let target: Int
        if isLocal {
            target = resource
        } else {
            guard let found = try load(uri, place, code: .unresolvedReference) else {
                throw missing("leads to a document that is not known: \(MessageText.shown(uri, limit: 200))")
            }
            target = found
        }
        guard let fragment, !fragment.isEmpty else { return (try visited(resources[target].root, place), nil) }
        guard let bytes = PercentEncoding.bytes(fragment) else { throw missing("has a broken percent-encoding") }
        if fragment.hasPrefix("/") {
            let root = resources[target].root
            guard let value = documents[root.document].find(bytes, from: root.value) else {
                throw missing("leads to nothing")
            }
            return (try visited(SchemaPlace(document: root.document, value: value), place), nil)
        }
        let name = String(decoding: bytes, as: UTF8.self)
        guard let found = resources[target].anchors[name] else { throw missing("leads to no anchor") }
        return (found, name)
    }

    /// A place that is known as a schema, also one within a keyword that is not.
    func visited(_ place: SchemaPlace, _ origin: SchemaPlace) throws(JSONSchemaError) -> SchemaPlace {
        if places[place] != nil { return place }
        let values = documents[place.document].values
        switch values[place.value].kind {
        case .object, .true, .false: break
        default: throw fault(.unresolvedReference, origin, "leads to a value that is not a schema")
        }
        var outer = values[place.value].parent
        while outer >= 0, places[SchemaPlace(document: place.document, value: outer)] == nil {
            outer = values[outer].parent
        }
        let resource = outer < 0 ? nil : places[SchemaPlace(document: place.document, value: outer)]
        try walk(place, resource ?? rootResources[place.document], isLenient: false)
        return place
    }

    /// All schemas that were visited in a document.
    func schemas(of document: Int) -> [SchemaPlace] {
        places.keys.filter { $0.document == document }.sorted { $0.value < $1.value }
    }
}
