/// The program's exit status, for scripts. With several URLs, the highest status from 0 to 2 counts.
enum ExitStatus: Int32, CaseIterable, Comparable {
    case complete = 0
    case retryable = 1
    case failed = 2
    case interrupted = 130

    /// For `--help` and the documentation.
    var meaning: String {
        switch self {
        case .complete: "every file is complete and verified"
        case .retryable: "a temporary failure, such as a lost connection: run the same command again"
        case .failed: "a permanent failure, such as 404, a full disk or a wrong option"
        case .interrupted: "interrupted by SIGINT, SIGTERM or SIGHUP: the same command resumes"
        }
    }

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
