public import ErrandEssentials
import Synchronization

extension RequestBody {
    /// A stream that is opened anew for every attempt.
    public static func stream(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        open: @escaping @Sendable () throws -> HTTPBody
    ) -> RequestBody {
        RequestBody(.stream(open), contentType, length: length)
    }

    /// The chunks of a sequence, which is made anew for every attempt.
    ///
    /// ```swift
    /// let lines = ["one", "two"]
    /// let body = RequestBody.stream {
    ///     AsyncStream<Data> { chunks in
    ///         for line in lines { chunks.yield(Data(line.utf8)) }
    ///         chunks.finish()
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - length: the number of bytes of all chunks; nil, the default, where it is unknown: the body is then sent
    ///     chunked. Other numbers of bytes fail with ``ErrandError/Code/truncated`` or
    ///     ``ErrandError/Code/invalidResponse``.
    ///   - contentType: sent as `Content-Type`.
    ///   - sequence: makes the sequence. Its error fails the request with ``ErrandError/Code/encodingFailed``.
    public static func stream<Chunks: AsyncSequence>(
        length: Int64? = nil, contentType: String? = "application/octet-stream",
        of sequence: @escaping @Sendable () throws -> Chunks
    ) -> RequestBody where Chunks: Sendable, Chunks.Element == Data {
        RequestBody(
            .stream { HTTPBody(length: length, source: SequenceSource(try sequence())) }, contentType, length: length)
    }

    /// A stream that is opened anew for every attempt, at any of its bytes, so that a resumable upload sends only what
    /// the server lacks. The closure receives the offset of the first byte that it has to deliver, from 0 to `length`,
    /// and delivers the same bytes each time.
    ///
    /// ```swift
    /// let body = RequestBody.stream(length: Int64(data.count)) { offset in HTTPBody(data.dropFirst(Int(offset))) }
    /// ```
    public static func stream(
        length: Int64, contentType: String? = "application/octet-stream",
        openAt: @escaping @Sendable (_ offset: Int64) throws -> HTTPBody
    ) -> RequestBody {
        RequestBody(.seekable(openAt), contentType, length: length)
    }

    /// A stream that can be sent once.
    public static func stream(_ body: HTTPBody, contentType: String? = "application/octet-stream") -> RequestBody {
        let wasSent = Atomic(false)
        return RequestBody(
            .stream {
                if wasSent.exchange(true, ordering: .acquiringAndReleasing) {
                    throw ErrandError(.bodyNotReplayable, "this stream was sent before and can be read only once")
                }
                return body
            }, contentType, length: body.length, isReplayable: false)
    }

    /// A body that is made when its request is built, off the caller's actor, for a format whose length is known only
    /// then: one that encodes values by the agent's encoder, or that looks at files first. It is made once for a call,
    /// and every attempt sends the same body.
    ///
    /// ```swift
    /// let body = RequestBody.prepared { encoder in
    ///     .data(try encoder.encode([1, 2, 3]), contentType: encoder.contentType)
    /// }
    /// ```
    ///
    /// An error that is no ``ErrandError`` becomes the underlying one of ``ErrandError/Code/encodingFailed``; nothing
    /// is sent then.
    ///
    /// - Parameters:
    ///   - isReplayable: whether the body that is made can be sent again, as far as it is known in advance; true by
    ///     default.
    ///   - contentType: replaces that of the body that is made; nil, the default, keeps it.
    ///   - prepare: makes the body with the encoder of the agent, when the request is built.
    public static func prepared(
        isReplayable: Bool = true, contentType: String? = nil,
        by prepare: @escaping @Sendable (any BodyEncoder) throws -> RequestBody
    ) -> RequestBody {
        RequestBody(.prepared(prepare), contentType, isReplayable: isReplayable)
    }
}
