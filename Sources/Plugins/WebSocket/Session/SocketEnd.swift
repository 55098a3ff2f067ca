import Errand

/// Ends the socket when its activity ends, even if the activity was cancelled before its body ran.
struct SocketEnd: Accessory {
    let core: SocketCore

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .willStop(let outcome) = event else { return }
        switch outcome {
        case .success: core.finish(nil)
        case .failure(let error): core.finish(error)
        default: core.finish(ErrandError(.cancelled, "the socket was cancelled"))
        }
    }
}
