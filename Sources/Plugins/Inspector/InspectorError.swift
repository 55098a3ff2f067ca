public import Errand
import ErrandEssentials

/// An inspector couldn't start. More cases can be added.
public struct InspectorError: DescribedError, Sendable, Hashable {
    /// The kind of failure.
    public enum Reason: Sendable, Hashable {
        /// The program is a release build, and the app didn't opt in.
        case releaseBuild
        /// The inspector has already started.
        case alreadyStarted
        /// The port is in use, or the system refused a socket or a thread. Contains the system's message.
        case system(String)
    }

    /// The kind of failure.
    public let reason: Reason

    init(_ reason: Reason) { self.reason = reason }

    /// A sentence for developers.
    public var description: String {
        switch reason {
        case .releaseBuild:
            "the inspector doesn't start in a release build; to start it anyway, pass inReleaseBuilds: true"
        case .alreadyStarted: "the inspector has already started; call stop() first"
        case .system(let message): "the inspector can't listen: \(message)"
        }
    }

    /// A stable number for each kind of failure.
    public var errorCode: Int {
        switch reason {
        case .releaseBuild: 1
        case .alreadyStarted: 2
        case .system: 3
        }
    }
}
