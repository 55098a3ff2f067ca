public import Errand
import ErrandEssentials

/// A failure to read or write an HTTP Archive, with its position in the file.
///
/// ```swift
/// do { try ReplayTransport(har: file) } catch let error as HARError {
///     print(error.code, error.path, error.byte)      // malformedJSON log.entries[3].response.status 18204
/// }
/// ```
///
/// The description doesn't contain anything from the file except names of the format.
public struct HARError: CodedError, Sendable, Hashable {
    /// The kind of failure. Codes are stable and suitable for metrics.
    public typealias Code = FailureCode<HARError>

    /// The kind of failure.
    public var code: Code
    /// A sentence that describes the failure: the expected and the actual value.
    public var message: String
    /// The path of the value, such as "log.entries[3].request.url", with indices from 0. Empty for the whole file.
    public var path: String
    /// The position at which reading stopped, in bytes from the start of the file. `nil` if the file couldn't be opened
    /// or written.
    public var byte: Int?

    init(_ code: Code, _ message: String, path: String = "", byte: Int? = nil) {
        (self.code, self.message, self.path, self.byte) = (code, message, path, byte)
    }

    /// The code, the message and the position.
    public var description: String {
        let place = [path.isEmpty ? nil : path, byte.map { "byte \($0)" }].compactMap(\.self).joined(separator: ", ")
        return place.isEmpty ? "\(code): \(message)" : "\(code): \(message) (\(place))"
    }

    func within(_ step: String) -> HARError {
        var error = self
        error.path = path.isEmpty || path.hasPrefix("[") ? step + path : "\(step).\(path)"
        return error
    }
}

extension FailureCode<HARError> {
    /// The file can't be opened, read or written, or it isn't a regular file.
    public static var fileFailed: Self { Self("fileFailed", 1) }
    /// The bytes aren't JSON.
    public static var malformedJSON: Self { Self("malformedJSON", 2) }
    /// The file ends within a value.
    public static var truncated: Self { Self("truncated", 3) }
    /// The JSON isn't an HTTP Archive: a field is missing, appears twice or has another type.
    public static var notHAR: Self { Self("notHAR", 4) }
    /// A value, or the list of all entries, exceeds the limit.
    public static var tooLarge: Self { Self("tooLarge", 5) }
    /// A body isn't the Base64 that its entry announces.
    public static var damagedBody: Self { Self("damagedBody", 6) }
}
