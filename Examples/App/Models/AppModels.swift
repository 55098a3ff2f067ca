package import Errand
import ErrandCache
package import ErrandResumableUpload
import ErrandRetry
import ErrandSystemTransport
package import Foundation

/// The models of all screens, and the agents they use. Addresses, transports and filters are set up only here.
package final class AppModels {
    package let feed: FeedModel
    package let search: SearchModel
    package let account: AccountModel
    package let upload: UploadModel
    package let chat: ChatModel

    /// - Parameters:
    ///   - url: the service's base URL.
    ///   - folder: where records of unfinished uploads are kept.
    ///   - retry: the retry policy for uploads that are interrupted.
    ///   - time: the clock of the search.
    package init(
        url: String, folder: URL, retry: TransferRetryPolicy = .standard, time: any TimeSource = SystemTimeSource()
    ) {
        // In memory, because the server's address changes at each start. Use `.disk(at:)` in your own app.
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
    /// A message for the user, or nil for a cancellation, which isn't a failure.
    var sentence: String? { isCancellation ? nil : localizedDescription }
}
