public import Errand
public import ErrandEssentials

extension XMLTree {
    /// Reads a document.
    ///
    /// - Parameters:
    ///   - data: the bytes of the document.
    ///   - charset: the charset of a header; it follows a byte order mark and precedes the XML declaration. Nil by
    ///     default.
    ///   - limits: the limits of the document.
    /// - Throws: ``XMLError``.
    public init(_ data: Data, charset: String? = nil, limits: XMLLimits = .standard) throws(XMLError) {
        let limits = limits.forTree
        var builder = TreeBuilder(limits)
        var pieces = DataPieces(data)
        var parser = DocumentParser(charset: charset, limits: limits)
        var isOver = false
        while !isOver {
            // A failure of the tree precedes one that the parser finds behind it.
            var failure: XMLError?
            do throws(XMLError) {
                if let piece = pieces.next() {
                    try parser.read(piece)
                } else {
                    isOver = true
                    try parser.finish()
                }
            } catch { failure = error }
            do throws(XMLError) { for event in parser.takeEvents() { try builder.add(event) } } catch {
                throw XMLError(error.code, error.message, at: parser.location)
            }
            if let failure { throw failure }
        }
        guard let root = builder.finished.first else { throw XMLError(.truncated, "there is no root element") }
        self = root
    }
}

/// The pieces of some data: small ones, so that the events of each are few.
struct DataPieces {
    private var rest: Data

    /// The maximum number of bytes of a piece.
    static let size = 32 << 10

    init(_ data: Data) { rest = data }

    /// The next one; nil at the end.
    mutating func next() -> Data? {
        guard !rest.isEmpty else { return nil }
        defer { rest = rest.dropFirst(Self.size) }
        return rest.prefix(Self.size)
    }
}

extension HTTPResponse {
    /// A body in memory as XML, by the charset of `Content-Type` or of the document.
    ///
    /// ```swift
    /// let response = try await agent.send(Call<HTTPResponse>(.get, "feed.xml")).value
    /// let title = try response.xml()["channel"]?["title"]?.text
    /// ```
    ///
    /// - Throws: an `ErrandError` with the code `decodingFailed` and an ``XMLError`` as `underlying`.
    public func xml(limits: XMLLimits = .standard) throws -> XMLTree {
        do { return try XMLTree(data, charset: charsetLabel, limits: limits) } catch {
            throw ErrandError(.decodingFailed, "XML expected: \(error)", response: self, underlying: error)
        }
    }

    /// The body as a stream of XML, by the charset of `Content-Type` or of the document.
    public func xmlEvents(limits: XMLLimits = .streaming) -> XMLEvents {
        XMLEvents(body, charset: charsetLabel, limits: limits)
    }
}
