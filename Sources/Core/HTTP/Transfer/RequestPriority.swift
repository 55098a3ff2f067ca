/// How urgent a request is: the priority of the task it runs in, and a hint for the transport.
public enum RequestPriority: Sendable, Hashable {
    /// For what nobody waits for, for most requests, and for what somebody looks at.
    case low, medium, high

    package var task: TaskPriority {
        switch self {
        case .low: .low
        case .medium: .medium
        case .high: .high
        }
    }
}
