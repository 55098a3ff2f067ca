public import Errand
import ErrandMessageSyntax

/// The parts of a multipart response, one after the other, as they arrive.
///
/// ```swift
/// let parts = try await agent.send(Call<ReceivedParts>(.get, "album")).value
/// for try await part in parts {
///     print(part.fileName ?? "", try await part.data(upTo: 1 << 20).count)
/// }
/// ```
///
/// It has one reader and needs little memory, whatever the sizes of the parts; when the reader goes away, the transfer
/// is cancelled. A body that does not match its type throws ``MultipartError``.
public struct ReceivedParts: AsyncSequence, Sendable {
    /// A part.
    public typealias Element = ReceivedPart
    /// A ``MultipartError``, or the error of the body.
    public typealias Failure = any Error

    private let feed: PartFeed

    /// Reads the parts of a body.
    ///
    /// - Parameters:
    ///   - body: the body, which is read while the parts are.
    ///   - contentType: the type of the message. Throws ``MultipartError/Code/notMultipart`` if it is no multipart type
    ///     with a boundary.
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

    /// Begins to read; a second reader gets ``Errand/ErrandError/Code/bodyAlreadyRead``.
    public func makeAsyncIterator() -> Iterator { Iterator(feed: feed, isFirst: feed.claim()) }

    /// Pulls the parts.
    public struct Iterator: AsyncIteratorProtocol {
        let feed: PartFeed
        let isFirst: Bool

        /// The next part; nil behind the last one. The unread rest of the one before is skipped.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ReceivedPart? {
            guard isFirst else { throw ErrandError(.bodyAlreadyRead, "the parts of a response have one reader") }
            return try await feed.nextPart().map { ReceivedPart($0.0, feed: feed, number: $0.1) }
        }
    }
}
