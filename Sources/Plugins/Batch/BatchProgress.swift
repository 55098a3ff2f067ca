import Errand

/// Reports the progress of the batch on its activity.
struct BatchProgress: Sendable {
    private let reporter: ProgressReporter<ProgressSum>

    init(_ activity: Activity, count: Int, needsOne: Bool) {
        reporter = ProgressReporter(ProgressSum(count: count, needsOne: needsOne), of: activity, progress: \.whole)
    }

    func begin(_ index: Int) { reporter.update(reporting: false) { $0.begin(index) } }

    func end(_ index: Int, isSuccess: Bool) { reporter.update { $0.end(index, isSuccess: isSuccess) } }

    func allReported() async { await reporter.allReported() }

    /// Receives the progress of a part.
    func listener(of index: Int) -> @Sendable (TransferProgress) -> Void {
        { [reporter] part in reporter.update { $0.update(index, part) } }
    }
}
