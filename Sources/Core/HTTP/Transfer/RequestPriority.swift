/// How urgent a request is. The priority is used for the request's task, and as a hint for the transport.
public enum RequestPriority: Sendable, Hashable {
    /// For background work that no user waits for, such as prefetching.
    case low
    /// For most requests.
    case medium
    /// For responses that the user waits for, such as an image on screen.
    case high

    package var task: TaskPriority {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}
