import Errand
import ErrandTesting

/// The server that the app talks to: in the same process, on the loopback interface, so that the app works without a network.
///
/// An app of your own has the address of its service here, and none of this.
package final class Backend: Sendable {
    package let articles = ArticleService()
    package let accounts = AccountService()
    package let files: FileService
    package let chat: ChatService
    private let server: TestServer

    /// Starts it.
    ///
    /// - Parameter pace: how long it takes for a piece of work, so that a person can watch; zero for tests.
    package init(pace: Duration = .milliseconds(150)) throws {
        server = try TestServer()
        (files, chat) = (FileService(pace: pace), ChatService(pace: pace))
        server.on(.get, "/articles") { [articles] in try articles.page($0).delayed(by: pace) }
        server.on(.put, "/token") { [accounts] in accounts.token($0).delayed(by: pace) }
        server.on(.get, "/users/7") { [accounts] in try accounts.user($0).delayed(by: pace) }
        server.on("/files*") { [files] in files.respond($0) }
        server.on(.post, "/chat") { [chat] in try chat.reply($0) }
    }

    package var url: String { server.url }

    /// Closes all connections, and takes no more.
    package func stop() { server.stop() }

    /// The number of requests so far.
    package var requestCount: Int { server.requestCount }
}
