/// How urgent a request is. Sets the priority of the request's task and serves as a hint for the transport.
public enum RequestPriority: Sendable, Hashable {
    /// Background work that no user waits for, such as prefetching.
    case low
    /// The priority of most requests.
    case medium
    /// A response that the user waits for, such as an image on screen.
    case high

    package var task: TaskPriority {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}
