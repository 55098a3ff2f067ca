public import Errand
import ErrandEssentials

/// A failure to start an inspector.
///
/// ```swift
/// do { try inspector.start(port: 4711) } catch { print(error.code == .releaseBuild) }
/// ```
public struct InspectorError: CodedError, Sendable, Hashable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<InspectorError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public let code: Code
    /// Describes the failure, for example with the system's message.
    public let message: String

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension InspectorError {
    static var releaseBuild: InspectorError {
        InspectorError(
            .releaseBuild,
            "the inspector doesn't start in a release build; to start it anyway, pass inReleaseBuilds: true")
    }

    static var alreadyStarted: InspectorError {
        InspectorError(.alreadyStarted, "the inspector has already started; call stop() first")
    }

    static func listeningFailed(_ reason: String) -> InspectorError {
        InspectorError(.listeningFailed, "the inspector can't listen: \(reason)")
    }
}

extension FailureCode<InspectorError> {
    /// The program is a release build, and `start` was called without `inReleaseBuilds: true`.
    public static var releaseBuild: Self { Self("releaseBuild", 1) }
    /// The inspector has already started.
    public static var alreadyStarted: Self { Self("alreadyStarted", 2) }
    /// The port is in use, or the system refused a socket or a thread.
    public static var listeningFailed: Self { Self("listeningFailed", 3) }
}
