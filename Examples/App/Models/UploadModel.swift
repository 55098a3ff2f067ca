package import Errand
import ErrandExampleRequests
package import ErrandResumableUpload
package import Foundation
import Observation

/// Uploads a file, and goes on where the server is after each interruption. The upload outlives its screen.
@Observable package final class UploadModel {
    /// The sent part of the file, from 0 to 1.
    package private(set) var fraction = 0.0
    /// A line about what the upload does.
    package private(set) var status = ""
    /// Whether an upload runs.
    package private(set) var isRunning = false
    /// Whether the upload was paused by ``pause()``.
    package private(set) var isPaused = false
    /// The sentence about what went wrong last.
    package private(set) var failure: String?
    /// The waits and restarts of the upload.
    package private(set) var notices: [TransferNotice] = []
    /// The upload that runs, or the last one.
    @ObservationIgnored package private(set) var task: Task<Void, Never>?
    @ObservationIgnored private var upload: Upload<HTTPResponse>?
    @ObservationIgnored private let agent: NetworkAgent

    package init(_ agent: NetworkAgent) { self.agent = agent }

    /// Sends a file. Of one that was begun, the server gets the rest.
    package func start(_ file: URL) {
        if isRunning { return }
        let request = SendFile(.file(file), to: "files", metadata: ["filename": file.lastPathComponent])
        let upload = agent.upload(request)
        self.upload = upload
        (isRunning, isPaused, failure, notices, status) = (true, false, nil, [], "starting")
        task = Task { [weak self] in
            do {
                for try await event in upload { self?.show(event) }
            } catch {
                self?.fail(error)
            }
            self?.isRunning = false
        }
    }

    /// Closes the connection; the server keeps what it has.
    package func pause() {
        upload?.pause()
        isPaused = isRunning
    }

    /// Goes on after a pause.
    package func resume() {
        upload?.resume()
        isPaused = false
    }

    /// Ends the upload; the next start goes on where the server is.
    package func cancel() { upload?.cancel() }

    private func show(_ event: TransferEvent<HTTPResponse>) {
        switch event {
        case .progress(let progress):
            fraction = progress.fraction ?? 0
            status = words(for: progress.state)
        case .notice(let notice): notices.append(notice)
        case .finished: (fraction, status) = (1, "complete")
        }
    }

    private func fail(_ error: any Error) {
        failure = error.sentence
        status = "interrupted"
    }

    private func words(for state: TransferState) -> String {
        switch state {
        case .queued, .preparing, .connecting: "starting"
        case .sending, .receiving, .verifying: "sending"
        case .stalled: "waiting for the network"
        case .paused: "paused"
        case .waiting: "trying again"
        case .finished: "complete"
        case .interrupted: "interrupted"
        }
    }
}
