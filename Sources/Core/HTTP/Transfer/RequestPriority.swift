/// How urgent a request is: the priority of the task it runs in, and a hint for the transport.
public enum RequestPriority: Sendable, Hashable {
    /// Background work, such as prefetching, for which no user waits.
    case low
    /// The priority of most requests.
    case medium
    /// A response that a user waits for, such as an image on the screen.
    case high

    package var task: TaskPriority {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}
