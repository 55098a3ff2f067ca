import Errand
import ErrandResumableDownload

/// Carries out a plan: downloads a limited number of URLs at once, and queues the rest.
struct Runner: Sendable {
    enum Job: Sendable {
        case file(FileJob)
        case stream(StreamJob)

        func run() async -> ExitStatus {
            switch self {
            case .file(let job): await job.run()
            case .stream(let job): await job.run()
            }
        }
    }

    let jobs: [Job]
    let parallel: Int
    let reporter: Reporter

    init(_ plan: Plan, transport: any Transport, reporter: Reporter) {
        let arguments = plan.arguments
        let options = DownloadOptions(
            maximumSegments: arguments.segments, nameCollisionPolicy: arguments.overwrites ? .replace : .number,
            retry: TransferRetryPolicy(maximumFailures: arguments.tries - 1))
        let agent = NetworkAgent(baseURL: "", transport: transport)
        let limit: [any Filter] = arguments.rateLimit.map { [RateLimit(bytesPerSecond: $0)] } ?? []
        let timeout = Duration.seconds(arguments.timeout)
        let deadline = arguments.maximumTime.map { Duration.seconds($0) }
        self.reporter = reporter
        // Run one at a time if all downloads share one output.
        parallel = plan.destination == nil ? 1 : arguments.parallel
        jobs = plan.targets.map { target in
            guard let destination = plan.destination else {
                var headers = plan.headers
                headers["Accept-Encoding"] = "identity"
                let request = StreamJob.Fetch(
                    path: target.url.text, headers: headers, authorization: target.authorization, timeout: timeout,
                    deadline: deadline, filters: limit)
                return .stream(
                    StreamJob(target: target, request: request, arguments: arguments, agent: agent, reporter: reporter))
            }
            let request = FileJob.Fetch(
                path: target.url.text, destination: destination, checksum: arguments.sha256.map { .sha256($0) },
                headers: plan.headers, authorization: target.authorization, timeout: timeout, deadline: deadline,
                filters: [.downloads(options)] + limit)
            return .file(
                FileJob(
                    target: target, destination: destination, request: request, arguments: arguments, agent: agent,
                    reporter: reporter))
        }
    }

    /// Returns the highest status. `interrupted` names the signal that ended the run.
    func run(interruptedBy signal: @Sendable () -> String?) async -> ExitStatus {
        let ticker =
            reporter.isAnimated
            ? Task {
                while !Task.isCancelled {
                    try await Task.sleep(for: .milliseconds(250))
                    reporter.tick()
                }
            } : nil
        var statuses: [ExitStatus] = []
        await withTaskGroup(of: ExitStatus.self) { group in
            var waiting = jobs[...]
            while let job = waiting.prefix(max(0, parallel)).first, jobs.count - waiting.count < parallel {
                waiting.removeFirst()
                group.addTask { await job.run() }
            }
            for await status in group {
                statuses.append(status)
                if !Task.isCancelled, let job = waiting.popFirst() { group.addTask { await job.run() } }
            }
        }
        ticker?.cancel()
        let complete = statuses.count { $0 == .complete }
        var status = statuses.max() ?? .complete
        if let signal = signal(), complete < jobs.count {
            status = .interrupted
            reporter.message(interruption(signal, complete))
        }
        let failed = statuses.count { $0 == .retryable || $0 == .failed }
        reporter.end(complete: complete, failed: failed, status: status)
        return status
    }

    private func interruption(_ signal: String, _ complete: Int) -> String {
        var kept: Int64 = 0
        for case .file(let job) in jobs { kept += job.kept }
        var text = "interrupted by \(signal)"
        if jobs.count > 1 { text += ", \(complete) of \(jobs.count) files are complete" }
        if kept > 0 { text += "; \(Readable.size(kept)) are kept" }
        if case .stream = jobs.first { return text + "; a download to standard output can't be resumed" }
        text += kept > 0 ? ", and the same command resumes from there" : "; run the same command again"
        return text + (complete > 0 ? ", with --no-clobber to skip the complete ones" : "")
    }
}
