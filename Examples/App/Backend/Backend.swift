import Errand
import ErrandTesting

/// The server that the app talks to. It runs in the same process, on the loopback interface, so the app works without a
/// network.
///
/// Your own app has its service's address here instead.
package final class Backend: Sendable {
    package let articles = ArticleService()
    package let accounts = AccountService()
    package let files: FileService
    package let chat: ChatService
    private let server: TestServer

    /// Starts the server.
    ///
    /// - Parameter pace: how long the server takes for a unit of work, so people can watch. Use zero in tests.
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

    /// Closes all connections, and stops accepting new connections.
    package func stop() { server.stop() }

    /// The number of requests received so far.
    package var requestCount: Int { server.requestCount }
}
