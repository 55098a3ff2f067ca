public import Errand
import ErrandEssentials
import ErrandSupport

/// A failure of the outbox itself, such as a full disk. Its entries stay.
public struct OutboxError: Error, Sendable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<OutboxError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public let code: Code
    /// Describes the failure. The text can contain full paths of files.
    public let message: String

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    init(_ failure: SystemFile.Failure) {
        let isFull = [ENOSPC, EDQUOT, EFBIG].contains(failure.code)
        self.init(isFull ? .noSpace : .fileFailed, failure.description)
    }

    static func converting<Value: ~Copyable>(
        _ body: () throws(SystemFile.Failure) -> Value
    ) throws(Self) -> Value {
        do { return try body() } catch { throw Self(error) }
    }

    /// Whether the content of an entry was refused, so storing it again fails in the same way.
    var isOfContent: Bool { code == .queueFull || code == .tooLarge }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension OutboxError: CodedError {}

extension FailureCode<OutboxError> {
    /// Another process held the directory's lock for too long.
    public static var busy: Self { Self("busy", 1) }
    /// The outbox is full: the new entry, or the new content of an entry, would exceed the maximum number of entries or
    /// bytes. An entry that would have been replaced stays as it was.
    public static var queueFull: Self { Self("queueFull", 2) }
    /// The encoded request, the name of its lane, or its replacement key is too long. Also thrown for a request that is
    /// too long after merging; the older entry then stays as it was.
    public static var tooLarge: Self { Self("tooLarge", 3) }
    /// The outbox was closed.
    public static var closed: Self { Self("closed", 4) }
    /// The request's type isn't registered, or two types share a name.
    public static var unregisteredType: Self { Self("unregisteredType", 5) }
    /// The request couldn't be encoded.
    public static var encodingFailed: Self { Self("encodingFailed", 6) }
    /// The stored value couldn't be decoded.
    public static var decodingFailed: Self { Self("decodingFailed", 7) }
    /// Another version of this module wrote the file. The outbox doesn't change this file.
    public static var unknownFormat: Self { Self("unknownFormat", 8) }
    /// The disk or the user's quota is full.
    public static var noSpace: Self { Self("noSpace", 9) }
    /// Another failure of the file, for example because a link is at the file's path, or because the log has run out of
    /// entry numbers.
    public static var fileFailed: Self { Self("fileFailed", 10) }
}

extension OutboxError {
    /// The sentence that users see as `localizedDescription`.
    public var failureSentence: FailureSentence {
        switch code {
        case .busy: .alreadyRunning
        case .queueFull, .tooLarge: .tooLarge
        case .noSpace: .noSpace
        case .fileFailed: .fileFailed
        default: .failed
        }
    }
}
