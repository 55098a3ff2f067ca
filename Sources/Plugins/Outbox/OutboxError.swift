public import Errand
import ErrandEssentials
import ErrandSupport

/// A failure of an outbox itself. What was enqueued before stays.
public struct OutboxError: Error, Sendable {
    /// The kind of failure; codes may be added.
    public typealias Code = FailureCode<OutboxError>

    /// The kind of failure.
    public let code: Code
    /// A sentence for developers, without a full stop. Files are named by their whole paths.
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

    /// One line: the code and the message.
    public var description: String { "\(code): \(message)" }
}

extension OutboxError: CodedError {}

extension FailureCode<OutboxError> {
    /// Another process holds the lock of the directory for too long.
    public static var busy: Self { Self("busy", 1) }
    /// The outbox holds as many entries, or bytes, as it may.
    public static var queueFull: Self { Self("queueFull", 2) }
    /// The value of the request is larger than an entry may be.
    public static var tooLarge: Self { Self("tooLarge", 3) }
    /// The outbox was closed.
    public static var closed: Self { Self("closed", 4) }
    /// The type of the request is not registered, or two types have one name.
    public static var unregisteredType: Self { Self("unregisteredType", 5) }
    /// The request could not be encoded.
    public static var encodingFailed: Self { Self("encodingFailed", 6) }
    /// The stored value could not be decoded.
    public static var decodingFailed: Self { Self("decodingFailed", 7) }
    /// The file was written by another version of this module; it stays as it is.
    public static var unknownFormat: Self { Self("unknownFormat", 8) }
    /// There is no room on the disk, or in the user's quota.
    public static var noSpace: Self { Self("noSpace", 9) }
    /// Any other failure of the file, such as a link in its place, or a log without a number for another entry.
    public static var fileFailed: Self { Self("fileFailed", 10) }
}

extension OutboxError {
    /// The sentence for people.
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
