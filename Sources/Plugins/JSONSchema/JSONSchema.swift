// Start here: make a ``JSONSchema``, and use it as the shape of a request or to validate data.
//
// Source/   the documents of a schema, and what references lead to
// Compile/  keywords compiled into a program
// Machine/  the validator that runs the program over a text
// Format/   the formats of strings

public import ErrandEssentials
public import ErrandJSONValidation
import ErrandSupport

/// A JSON Schema: draft 2020-12, 2019-09 or 7 (https://json-schema.org/draft/2020-12/json-schema-core).
///
/// ```swift
/// let orders = try JSONSchema(contentsOf: URL(filePath: "orders.schema.json"))
/// try orders.validate(data)
/// ```
///
/// A schema is compiled when it is made: an invalid one is rejected, with the position of the fault, before it
/// validates anything. Validation reads the text once and builds no objects. A schema can be used wherever a
/// ``JSONShape`` can: as a check, as the shape of a ``JSONValidatedRequest``, and on its own.
public struct JSONSchema: JSONValidating {
    /// The documents of a schema.
    static let maximumDocuments = 1_000
    /// The levels of a document of a schema.
    static let maximumDepth = 512
    /// The annotations of a text.
    static let maximumAnnotations = 100_000

    let program: SchemaProgram

    /// Compiles a schema.
    ///
    /// Nothing is ever fetched: a reference to another document leads to one of the standard's metaschemas, or to the
    /// document that the resolver returns for its absolute URI.
    ///
    /// ```swift
    /// let bundled = ["https://example.com/address.json": second]
    /// let schema = try JSONSchema(data, formats: .assertion, resolver: { uri in bundled[uri] })
    /// ```
    ///
    /// - Parameters:
    ///   - data: the text of the schema, or of a document that contains it.
    ///   - pointer: where in the document the schema is, as a JSON Pointer: `/components/schemas/Order` in an OpenAPI 3.1
    ///     document. Empty by default, for the document itself.
    ///   - uri: the absolute URI of the document, which relative references are resolved against; its `$id` by default.
    ///   - dialect: the version of a schema without `$schema`; 2020-12 by default.
    ///   - formats: whether `format` rejects strings; it does not by default.
    ///   - limits: the limits of compiling.
    ///   - resolver: returns the document with a URI, or nil if it has none; without one there are no other documents.
    /// - Throws: ``JSONSchemaError``, with the place of the fault.
    public init(
        _ data: Data, at pointer: String = "", uri: String = "", dialect: JSONSchemaDialect = .draft2020_12,
        formats: JSONSchemaFormats = .annotation, limits: JSONSchemaLimits = .standard,
        resolver: ((String) throws -> Data?)? = nil
    ) throws(JSONSchemaError) {
        let registry = SchemaRegistry(dialect: dialect, limits: limits, resolver: resolver)
        let root = try registry.add(data, uri: URIReference.resolve(uri, against: "").uri)
        let document = registry.documents[root.document]
        guard let value = document.find(Array(pointer.utf8), from: 0) else {
            throw JSONSchemaError(
                .unresolvedReference, uri: uri, pointer: pointer, reason: "the document has no such value")
        }
        switch document.values[value].kind {
        case .object, .true, .false: break
        default:
            throw JSONSchemaError(
                .invalidKeyword, uri: uri, pointer: pointer, reason: "expected a schema: an object or a boolean")
        }
        let location = try registry.visited(SchemaLocation(document: root.document, value: value), root)
        program = try SchemaCompiler(registry, formats: formats).compile(location)
    }

    /// Reads a schema from a file, and compiles it; see ``init(_:at:uri:dialect:formats:limits:resolver:)``. The file's URL is
    /// the URI of the document.
    ///
    /// - Throws: ``JSONSchemaError``; for what is no regular file, or cannot be read, too.
    public init(
        contentsOf file: URL, at pointer: String = "", dialect: JSONSchemaDialect = .draft2020_12,
        formats: JSONSchemaFormats = .annotation, limits: JSONSchemaLimits = .standard,
        resolver: ((String) throws -> Data?)? = nil
    ) throws(JSONSchemaError) {
        try self.init(
            Self.text(of: file, limits), at: pointer, uri: file.absoluteString, dialect: dialect, formats: formats,
            limits: limits,
            resolver: resolver)
    }

    private static func text(of file: URL, _ limits: JSONSchemaLimits) throws(JSONSchemaError) -> Data {
        func failure(_ code: JSONSchemaError.Code, _ reason: String) -> JSONSchemaError {
            JSONSchemaError(code, uri: file.absoluteString, pointer: "", reason: "cannot be read: \(reason)")
        }
        guard file.isFileURL else { throw failure(.notJSON, "the URL is not that of a file") }
        let limit = max(limits.maximumBytes, 0)
        do throws(SystemFile.Failure) {
            // A pipe would block, and a device has no end. What is read counts: a file may grow, or have no size.
            let opened = try SystemFile(file.path, [.read, .onlyRegular])
            if opened.status?.size ?? 0 <= Int64(limit) {
                var text = Data()
                while text.count <= limit {
                    let piece = try opened.read(64 << 10)
                    if piece.isEmpty { return text }
                    text += piece
                }
            }
        } catch { throw failure(.notJSON, error.description) }
        throw failure(.tooLarge, "it has more bytes than the limit of \(limits.maximumBytes)")
    }

    /// Validates a JSON text, and throws its problems, up to a limit: violations of RFC 8259 and of the schema. Each one
    /// has the pointer to the value, and the location of the keyword of the schema.
    public func validate(_ data: Data, limits: JSONLimits = .standard) throws(JSONValidationError) {
        let error = data.withSpan { program.validate($0, limits) }
        if let error { throw error }
    }

    /// The annotations of a valid text: what the schemas that its values fit say of them, such as `title`, `format`,
    /// `deprecated`, `contentMediaType`, and keywords that the standard does not know (2020-12 core, section 7.7).
    ///
    /// ```swift
    /// let schema = try JSONSchema(data)
    /// let deprecated = try schema.annotations(of: first).filter { $0.keyword == "deprecated" }
    /// ```
    ///
    /// It takes memory for each annotation. Throws the problems of a text that is not valid, and one of the kind
    /// ``JSONProblem/Kind/limit`` for more than 100,000 annotations.
    public func annotations(
        of data: Data, limits: JSONLimits = .standard
    ) throws(JSONValidationError) -> [JSONAnnotation] {
        try validate(data, limits: limits)
        return try data.withSpan { program.annotations($0, limits) }.get()
    }
}
