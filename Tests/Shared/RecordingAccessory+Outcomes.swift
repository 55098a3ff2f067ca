package import Errand
package import ErrandTesting

extension RecordingAccessory {
    /// The events of the activities of a kind, without progress and notes.
    package func names(_ kind: ActivityKind) -> [String] {
        records().filter { $0.kind == kind }.map(\.name).filter { $0 != "progress" && $0 != "note" }
    }

    package var outcomes: [String] {
        records().filter { $0.kind == .request }.compactMap { record in
            switch record.event {
            case .didStop(.success): "success"
            case .didStop(.failure): "failure"
            case .didStop(.cancelled): "cancelled"
            default: nil
            }
        }
    }
}
