// Start here: create a ``JSONSchema``, and use it as a request's shape or to validate data.
//
// Source/   a schema's documents, and resolving references
// Compile/  compiling keywords into a program
// Machine/  the validator that runs the program over JSON text
// Format/   string formats

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
/// The initializers compile the schema. If the schema is faulty, they throw an error with the position of the fault.
/// Validation reads the text once and doesn't build objects. You can use a schema in place of a ``JSONShape``: as a
/// check, as the shape of a ``JSONValidatedRequest``, or on its own.
public struct JSONSchema: JSONValidating {
    static let maximumDocuments = 1_000
    static let maximumDepth = 512
    static let maximumAnnotations = 100_000

    let program: SchemaProgram

    /// Creates a schema from its text.
    ///
    /// The initializer never fetches a document from the network. If the schema refers to another document, that
    /// document is either one of the standard's metaschemas, or the document that `resolver` returns for the
    /// reference's absolute URI.
    ///
    /// ```swift
    /// let bundled = ["https://example.com/address.json": second]
    /// let schema = try JSONSchema(data, formats: .assertion, resolver: { uri in bundled[uri] })
    /// ```
    ///
    /// - Parameters:
    ///   - data: the text of the schema, or of a document that contains it.
    ///   - pointer: the schema's position in the document as a JSON Pointer, such as `/components/schemas/Order` in an
    ///     OpenAPI 3.1 document. Defaults to empty, for the whole document.
    ///   - uri: the document's absolute URI, the base of relative references. Defaults to the document's `$id`.
    ///   - dialect: the version of a schema without `$schema`. Defaults to 2020-12.
    ///   - formats: whether `format` rejects strings. By default, it doesn't.
    ///   - resolver: returns the document with a URI, or `nil` for an unknown URI. Without a resolver, a schema can
    ///     refer only to the standard's metaschemas.
    /// - Throws: ``JSONSchemaError`` with the position of the fault.
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

    /// Creates a schema from a file. The file's URL becomes the document's URI. For the other parameters, see
    /// ``init(_:at:uri:dialect:formats:limits:resolver:)``.
    ///
    /// - Throws: ``JSONSchemaError``, also if the file isn't a regular file or can't be read.
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
        guard file.isFileURL else { throw failure(.notJSON, "the URL isn't a file URL") }
        let limit = max(limits.maximumBytes, 0)
        do throws(SystemFile.Failure) {
            // Rejects pipes, which would block, and devices, which never end. Counts bytes while reading, because a
            // file may grow or report no size.
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
        throw failure(.tooLarge, "it is longer than \(limits.maximumBytes) bytes")
    }

    /// Validates a JSON text. Throws an error that lists the violations of RFC 8259 and of the schema, up to
    /// ``JSONLimits/maximumProblems``.
    ///
    /// Each problem contains the pointer to the value and the location of the keyword in the schema.
    public func validate(_ data: Data, limits: JSONLimits = .standard) throws(JSONValidationError) {
        if let error = program.validate(data.span, limits) { throw error }
    }

    /// Validates a text and returns the annotations of its values. An annotation comes from a schema that the value
    /// fits.
    ///
    /// Annotations are keywords such as `title`, `format`, `deprecated` and `contentMediaType`, and keywords that the
    /// standard doesn't define (2020-12 core, section 7.7).
    ///
    /// ```swift
    /// let schema = try JSONSchema(data)
    /// let deprecated = try schema.annotations(of: first).filter { $0.keyword == "deprecated" }
    /// ```
    ///
    /// Throws the problems of an invalid text. To limit memory use, also throws a problem of the kind
    /// ``JSONProblem/Kind/limit`` if there are more than 100,000 annotations.
    public func annotations(
        of data: Data, limits: JSONLimits = .standard
    ) throws(JSONValidationError) -> [JSONAnnotation] {
        try validate(data, limits: limits)
        return try program.annotations(data.span, limits).get()
    }
}
