import Errand

/// The details of a note named "authentication", which the filter sends to accessories.
///
/// ```swift
/// if case .note(let note) = event, let details = note.details as? AuthenticationNote { print(details) }
/// ```
///
/// More cases may be added, so write a `default`.
public enum AuthenticationNote: Sendable, Hashable {
    /// A response shows that the server rejected the credential. Its status is usually 401.
    case rejected(status: Int)
    /// The request waited this long for a new credential, and then received it.
    case waited(Duration)
}

extension AuthenticationNote: CustomStringConvertible {
    /// The text for logs, on one line.
    public var description: String {
        switch self {
        case .rejected(let status): "the credential was rejected with status \(status)"
        case .waited(let wait): "waited \(duration: wait) for a new credential"
        }
    }
}
