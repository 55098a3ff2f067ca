/// How urgent a request is. The priority is used for the request's task, and as a hint for the transport.
public enum RequestPriority: Sendable, Hashable {
    /// The priority for background work that no user waits for, such as prefetching.
    case low
    /// The priority for most requests.
    case medium
    /// The priority for responses that the user waits for, such as an image on screen.
    case high

    package var task: TaskPriority {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}
