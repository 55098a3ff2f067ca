public import Errand
import ErrandMessageSyntax

/// The parts of a multipart response, as they arrive.
///
/// ```swift
/// let parts = try await agent.send(Call<ReceivedParts>(.get, "album")).value
/// for try await part in parts {
///     print(part.fileName ?? "", try await part.data(upTo: 1 << 20).count)
/// }
/// ```
///
/// Only one reader can read the parts. Memory use stays low whatever their size. Releasing the reader cancels the
/// transfer. A malformed body throws ``MultipartError``.
public struct ReceivedParts: AsyncSequence, Sendable {
    /// A part.
    public typealias Element = ReceivedPart
    /// A ``MultipartError``, or the body's error.
    public typealias Failure = any Error

    private let feed: PartFeed

    /// Reads the parts of a body. Throws ``MultipartError/Code/notMultipart`` unless `contentType` is a multipart type
    /// with a boundary.
    ///
    /// - Parameters:
    ///   - body: the body to read.
    ///   - contentType: the message's media type.
    ///   - limits: the limits of the body.
    public init(_ body: HTTPBody, contentType: String?, limits: MultipartLimits = MultipartLimits()) throws {
        let type = contentType.flatMap { MediaType(parsing: $0) }
        guard let type, type.type == "multipart" else {
            body.cancel()
            throw MultipartError(.notMultipart, "the body is of the type \(type?.essence ?? "unknown"), not multipart")
        }
        guard let boundary = type.parameters["boundary"], (1...200).contains(boundary.utf8.count),
            !boundary.utf8.contains(where: { $0 < 0x20 })
        else {
            body.cancel()
            throw MultipartError(.notMultipart, "the type \(type.essence) has no boundary")
        }
        feed = PartFeed(body, boundary: boundary, limits: limits)
    }

    /// Starts reading. A second reader throws ``Errand/ErrandError/Code/bodyAlreadyRead``.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, isFirst: feed.claim()) }

    /// Reads one part after another.
    public struct Iterator: AsyncIteratorProtocol {
        let feed: PartFeed
        let isFirst: Bool

        /// Returns the next part, or `nil` after the last part. Skips unread bytes of the previous part.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ReceivedPart? {
            guard isFirst else { throw ErrandError(.bodyAlreadyRead, "a response's parts can have only one reader") }
            return try await feed.nextPart().map { ReceivedPart($0.0, feed: feed, number: $0.1) }
        }
    }
}
