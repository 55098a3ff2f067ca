package import Errand
import ErrandCache
import ErrandResumableUpload
import ErrandRetry
import ErrandSystemTransport
package import Foundation

/// The models of all screens, and the agents below them: the one place that knows addresses, transports and filters.
package final class AppModels {
    package let feed: FeedModel
    package let search: SearchModel
    package let account: AccountModel
    package let upload: UploadModel
    package let chat: ChatModel

    /// - Parameters:
    ///   - url: the base URL of the service.
    ///   - folder: where the records of unfinished uploads are kept.
    ///   - retry: the policy of uploads that fail on the way.
    ///   - time: the clock of the search.
    package init(
        url: String, folder: URL, retry: TransferRetryPolicy = .standard, time: any TimeSource = SystemTimeSource()
    ) {
        // In memory, because the address of the server changes at each start: `.disk(at:)` in an app of your own.
        let agent = NetworkAgent(
            baseURL: url, transport: .system,
            filters: [
                .standardResilience,
                .uploads(
                    UploadOptions(
                        directory: folder, uploadProtocol: .tus, retry: retry, maximumRequestBytes: 256 << 10)),
                .cache(.memory()),
            ])
        feed = FeedModel(agent)
        search = SearchModel(agent, time: time)
        account = AccountModel(url)
        upload = UploadModel(agent)
        chat = ChatModel(agent)
    }
}

nonisolated extension Error {
    /// The sentence for a person; nil for a cancellation, which is no failure.
    var sentence: String? { isCancellation ? nil : localizedDescription }
}
