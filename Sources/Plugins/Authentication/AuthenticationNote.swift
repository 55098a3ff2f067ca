import Errand

/// The details of a note named "authentication", which the authentication filter sends to accessories.
///
/// ```swift
/// if case .note(let note) = event, let details = note.details as? AuthenticationNote { print(details) }
/// ```
///
/// More cases may be added, so write a `default`.
public enum AuthenticationNote: Sendable, Hashable {
    /// The server rejected the credential, usually with status 401.
    case rejected(status: Int)
    /// The request waited this long for a new credential.
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
