package import Errand
import ErrandExampleRequests
package import ErrandResumableUpload
package import Foundation
import Observation

/// Uploads a file, and resumes it after each interruption. The upload outlives its screen.
@Observable package final class UploadModel {
    /// The fraction of the file that has been sent, from 0 to 1.
    package private(set) var fraction = 0.0
    /// A line about the state of the upload.
    package private(set) var status = ""
    package private(set) var isRunning = false
    /// Whether the user paused the upload with ``pause()``.
    package private(set) var isPaused = false
    /// A message about the last failure.
    package private(set) var failure: String?
    /// The upload's waits and restarts.
    package private(set) var notices: [TransferNotice] = []
    /// The current upload, or the last one.
    @ObservationIgnored package private(set) var task: Task<Void, Never>?
    @ObservationIgnored private var upload: Upload<HTTPResponse>?
    @ObservationIgnored private let agent: NetworkAgent

    package init(_ agent: NetworkAgent) { self.agent = agent }

    /// Sends a file, or the rest of it if an earlier upload was interrupted.
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

    /// Closes the connection. The server keeps the bytes it has.
    package func pause() {
        upload?.pause()
        isPaused = isRunning
    }

    /// Resumes after a pause.
    package func resume() {
        upload?.resume()
        isPaused = false
    }

    /// Ends the upload. The next start resumes after the last byte that the server has.
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
