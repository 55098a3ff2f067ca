import ErrandEssentials
import ErrandJSONSyntax
import ErrandJSONValidation

/// All documents that a schema consists of, with the resources in them, and what references lead to.
final class SchemaRegistry {
    /// The name of the anchor that `$recursiveAnchor` makes, which no `$dynamicAnchor` can have.
    static let recursiveAnchor = "#"

    private(set) var documents: [SchemaDocument] = []
    var resources: [SchemaResource] = []
    var locations: [SchemaLocation: Int] = [:]
    var byURI: [String: Int] = [:]
    private let resolver: ((String) throws -> Data?)?
    private let standard: SchemaVocabulary
    /// The remaining budget of compiling.
    private(set) var budget: CompileBudget
    /// The tables of all patterns.
    let room = PatternRoom()
    /// The resource of the root of each document.
    var rootResources: [Int] = []
    /// The metaschemas whose vocabularies are being read.
    private var pending: Set<String> = []

    init(dialect: JSONSchemaDialect, limits: JSONSchemaLimits, resolver: ((String) throws -> Data?)?) {
        budget = CompileBudget(steps: limits.maximumSteps, bytes: limits.maximumBytes)
        standard = SchemaVocabulary(dialect)
        self.resolver = resolver
    }

    func resource(_ location: SchemaLocation) -> Int { locations[location] ?? 0 }

    func fault(_ code: JSONSchemaError.Code, _ location: SchemaLocation, _ reason: String) -> JSONSchemaError {
        let document = documents[location.document]
        return JSONSchemaError(code, uri: document.uri, pointer: document.pointer(location.value), reason: reason)
    }

    /// Counts what is taken for a place; throws if it is too much.
    func spend(steps: Int, bytes: Int = 0, at location: SchemaLocation) throws(JSONSchemaError) {
        if budget.spend(steps: steps, bytes: bytes) { return }
        throw fault(.tooLarge, location, budget.excess)
    }

    /// Counts what a schema can do without; false if it is too much.
    func mayTake(steps: Int, bytes: Int) -> Bool { budget.spend(steps: steps, bytes: bytes) }

    /// A pattern, which takes from the budget.
    func pattern(_ source: String, at location: SchemaLocation) throws(JSONSchemaError) -> PatternProgram {
        do throws(PatternFault) { return try PatternProgram(source, &budget, room) } catch {
            throw fault(error.kind == .tooLarge ? .tooLarge : .invalidPattern, location, error.message(of: source))
        }
    }

    // MARK: Documents

    /// Adds a document, and returns its root.
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
        let resource = try makeResource(uri, root, vocabulary)
        rootResources.append(resource)
        try walk(root, resource, isLenient: false)
        return root
    }

    func makeResource(
        _ uri: String, _ root: SchemaLocation, _ vocabulary: SchemaVocabulary
    ) throws(JSONSchemaError) -> Int {
        try spend(steps: 8, bytes: 256 + uri.utf8.count, at: root)
        resources.append(SchemaResource(uri: uri, root: root, vocabulary: vocabulary))
        if byURI[uri] == nil { byURI[uri] = resources.count - 1 }
        return resources.count - 1
    }

    /// The vocabulary that `$schema` names; nil without one.
    func vocabulary(of location: SchemaLocation) throws(JSONSchemaError) -> SchemaVocabulary? {
        let document = documents[location.document]
        guard let value = document.member(location.value, "$schema") else { return nil }
        let here = SchemaLocation(document: location.document, value: value)
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
            throw fault(code, location, "the resolver failed for \(MessageText.shown(uri, limit: 200)): \(error)")
        }
        guard let data else { return nil }
        _ = try add(data, uri: uri)
        return byURI[uri]
    }

    // MARK: Schemas

    /// Visits a schema and all schemas in it, and registers their identifiers.
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
                    throw fault(.invalidKeyword, here, "expected a schema: an object or a boolean")
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
                    position, SchemaLocation(document: location.document, value: child), isLenient)
                {
                    open.append((schema, resource, isLenient))
                }
            }
        }
    }

    private func schemas(
        _ position: SchemaVocabulary.Position, _ location: SchemaLocation, _ isLenient: Bool
    ) throws(JSONSchemaError) -> [Int] {
        let document = documents[location.document]
        let kind = document.values[location.value].kind
        switch (position, kind) {
        case (.schema, _): return [location.value]
        case (.schemaOrList, .array): return Array(document.elements(location.value))
        case (.schemaOrList, _): return [location.value]
        case (.list, .array):
            if document.values[location.value].count == 0, !isLenient {
                throw fault(.invalidKeyword, location, "expected at least one schema")
            }
            return Array(document.elements(location.value))
        case (.map, .object): return document.members(location.value).map(\.value)
        case (.dependencies, .object):
            return document.members(location.value).map(\.value).filter { document.values[$0].kind != .array }
        default:
            if isLenient { return [] }
            throw fault(
                .invalidKeyword, location,
                position == .list ? "expected an array of schemas" : "expected an object of schemas")
        }
    }
}
