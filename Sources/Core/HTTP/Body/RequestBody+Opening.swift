import ErrandEssentials
import ErrandSupport

extension RequestBody {
    /// The bytes for one attempt, from the start. Throws if the body cannot be sent again, or cannot be read.
    ///
    /// A source that fails makes the request fail with ``ErrandError/Code/encodingFailed``, even if the source was
    /// cancelled or lost a connection of its own: neither happened to the request.
    public func open() throws -> HTTPBody {
        switch storage {
        case .none: .empty
        case .data(let data): HTTPBody(data)
        case .deferred, .encodable, .prepared: try resolved(by: Self.plainEncoder).open()
        case .file(let url): HTTPBody(file: url, length: length)
        case .stream(let open): try UploadSource.guarding(length: length, open)
        case .seekable(let open): try UploadSource.guarding(length: length) { try open(0) }
        }
    }

    /// Whether ``open(at:)`` can begin behind the first byte: for bytes in memory, files, and streams made by
    /// ``stream(length:contentType:openAt:)``. A body that is made when its request is built can, once it is made.
    public var opensAtOffset: Bool {
        switch storage {
        case .none, .data, .file, .seekable: true
        case .deferred, .encodable, .stream, .prepared: false
        }
    }

    /// The bytes for one attempt from an offset to the end, for a filter that resumes an upload.
    ///
    /// ```swift
    /// let rest = try RequestBody.text("Hello, world").open(at: 7)
    /// ```
    ///
    /// A body of which ``opensAtOffset`` is false can be read from its start only: any other offset throws
    /// ``ErrandError/Code/bodyNotReplayable``, and its upload has to start over. A negative offset, and one behind the
    /// end where the length is known, throw ``ErrandError/Code/invalidRequest``.
    public func open(at offset: Int64) throws -> HTTPBody {
        if offset == 0 { return try open() }
        guard offset > 0, offset <= length ?? .max else {
            let known = length.map { "\($0) bytes" } ?? "unknown length"
            throw ErrandError(.invalidRequest, "no byte \(offset) in a body of \(known)")
        }
        switch storage {
        case .none: return .empty
        case .data(let data): return HTTPBody(data.dropFirst(Int(offset)))
        case .file(let url): return HTTPBody(file: url, from: offset, length: length.map { $0 - offset })
        case .seekable(let open):
            return try UploadSource.guarding(length: length.map { $0 - offset }) { try open(offset) }
        case .deferred, .encodable, .stream, .prepared:
            throw ErrandError(.bodyNotReplayable, "this body can be read from its start only")
        }
    }

    /// Whether ``resolved(by:)`` returns the body as it is.
    package var isResolved: Bool {
        switch storage {
        case .none, .data, .stream, .seekable: true
        case .deferred, .encodable, .file, .prepared: false
        }
    }

    /// The same body with everything resolved that can be known before sending: JSON encoded, a file's length read.
    package func resolved(by encoder: any BodyEncoder) throws -> RequestBody {
        switch storage {
        case .none, .data, .stream, .seekable: return self
        case .deferred(let encode): return try .data(Self.encoding { try encode(encoder) }, contentType: contentType)
        case .encodable(let encode, let own):
            let encoder = own ?? encoder
            let data = try Self.encoding { try encode(encoder) }
            return .data(data, contentType: contentType ?? encoder.contentType)
        case .file(let url):
            var result = self
            result.fields.value.length = try ErrandError.naming(.fileFailed) { try SystemFile.size(of: url.path) }
            return result
        case .prepared(let prepare):
            var result = try Self.encoding { try prepare(encoder) }.resolved(by: encoder)
            if let contentType { result.contentType = contentType }
            return result
        }
    }

    private static func encoding<Made>(_ encode: () throws -> Made) throws -> Made {
        do { return try encode() } catch let error as ErrandError { throw error } catch {
            let cause = (error as? EncodingError)?.summary ?? error.briefDescription
            throw ErrandError(.encodingFailed, "the body could not be encoded: \(cause)", underlying: error)
        }
    }
}
