import Errand
import ErrandAppBackend
import ErrandAppModels
import ErrandCache
import ErrandExampleRequests
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTestPrograms
import ErrandTestSupport
import ErrandTesting
import Foundation
import Observation
import Testing

@MainActor @Suite("The demo app", .endsInTime, .leakChecked) struct AppTests {
    private let folder = TemporaryDirectory()
    private let time = ManualTimeSource()
    private let backend: Backend

    init() throws { backend = try Backend(pace: .zero) }

    private func models(retry: TransferRetryPolicy = TransferRetryPolicy(backoff: .none)) -> AppModels {
        AppModels(url: backend.url, folder: folder.url.appending(path: "records"), retry: retry, time: time)
    }

    /// Logs a value now and after each change, as a view would draw it.
    private func follow<Value: Sendable>(_ log: Log<Value>, _ value: @escaping @MainActor () -> Value) {
        log.add(withObservationTracking(value) { Task { @MainActor in follow(log, value) } })
    }

    private func pause(_ search: SearchModel) async throws {
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(300))
        await search.task?.value
    }

    private func file(_ count: Int) throws -> (url: URL, data: Data) {
        var data = Data(repeating: 0x2E, count: count)
        // The pieces of the file have to differ.
        for index in stride(from: 0, to: count, by: 1000) { data[index] = UInt8(truncatingIfNeeded: index / 1000) }
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let url = folder.url.appending(path: "film.mp4")
        try data.write(to: url)
        return (url, data)
    }

    @Test("the feed shows the stored posts, then the server's, then page after page to the end")
    func feed() async throws {
        let feed = models().feed
        await feed.open()
        #expect(feed.articles.map(\.id) == Array(1...10) && feed.failure == nil)
        #expect(backend.requestCount == 1)
        backend.articles.revise()

        let drawn = Log<String>()
        follow(drawn) { [weak feed] in
            feed.map { "\($0.isStored ? "stored" : "fresh"): \($0.articles.first?.title ?? "")" } ?? ""
        }
        await feed.open()
        #expect(drawn.all.contains("stored: Harbour opens again"))
        #expect(feed.articles.first?.title == "Harbour opens again (edition 2)" && !feed.isStored)

        while !feed.isLast { await feed.more() }
        #expect(feed.articles.map(\.id) == Array(1...45) && feed.failure == nil)
        await feed.more()
        #expect(backend.requestCount == 6)
    }

    @Test("a feed without its server shows the stored posts, and a sentence")
    func feedOffline() async throws {
        // No retry filter: it would wait before it tries again.
        let feed = FeedModel(NetworkAgent(baseURL: backend.url, transport: .system, filters: [.cache(.memory())]))
        await feed.open()
        backend.stop()
        await feed.open()
        #expect(feed.articles.map(\.id) == Array(1...10) && !feed.isStored)
        #expect(feed.failure?.isEmpty == false)
    }

    @Test("a search is sent once typing pauses, and only the latest search is shown")
    func search() async throws {
        let search = models().search
        for text in ["h", "ha", "harb"] { search.text = text }
        try await pause(search)
        #expect(search.found.map(\.id) == Array(1...5) && backend.requestCount == 1)

        search.text = "tower"
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(300))
        let overtaken = search.task
        search.text = "river"
        try await pause(search)
        await overtaken?.value
        #expect(search.found.count == 5 && search.found.allSatisfy { $0.title.hasPrefix("River") })
        search.text = ""
        #expect(search.found.isEmpty && search.failure == nil)
    }

    @Test("a wrong password shows a sentence, and the right one signs in")
    func signIn() async throws {
        let account = models().account
        account.password = "wrong"
        await account.signIn()
        #expect(account.failure == "The name or the password is wrong." && !account.isSignedIn)
        account.password = "secret"
        await account.signIn()
        #expect(account.isSignedIn && account.name == "Ada" && account.failure == nil)
        #expect(account.password.isEmpty && !account.isBusy)
    }

    @Test("an expired token is refreshed, and the user is signed out by the end of the session or by signing out")
    func session() async throws {
        let account = models().account
        account.password = "secret"
        await account.signIn()
        backend.accounts.expireToken()
        await account.load()
        #expect(account.name == "Ada" && account.failure == nil && backend.accounts.issuedTokens == 2)
        try await eventually { account.refusals == 1 }

        backend.accounts.endSession()
        await account.load()
        #expect(!account.isSignedIn && account.name == nil && account.failure?.contains("signed out") == true)

        account.password = "secret"
        await account.signIn()
        #expect(account.isSignedIn && account.failure == nil)
        let before = backend.requestCount
        account.signOut()
        await account.load()
        #expect(!account.isSignedIn && account.name == nil && backend.requestCount == before)
    }

    @Test("the upload's progress increases to the end, even if the connection breaks in between")
    func upload() async throws {
        let upload = models().upload
        let (url, data) = try file(2_000_000)
        let drawn = Log<Double>()
        follow(drawn) { [weak upload] in upload?.fraction ?? 1 }
        upload.start(url)
        #expect(upload.isRunning)
        await upload.task?.value
        #expect(upload.status == "complete" && upload.fraction == 1 && upload.failure == nil && !upload.isRunning)
        #expect(drawn.all == drawn.all.sorted() && drawn.all.first == 0)
        #expect(upload.notices.contains { if case .retrying = $0 { true } else { false } })
        #expect(backend.files.lastFile == data)
    }

    @Test("a failed upload continues at the server's offset")
    func uploadAgain() async throws {
        let upload = models(retry: TransferRetryPolicy(maximumFailures: 0, backoff: .none)).upload
        let (url, data) = try file(2_000_000)
        upload.start(url)
        await upload.task?.value
        #expect(upload.status == "interrupted" && upload.failure?.isEmpty == false && backend.files.lastFile == nil)
        #expect(upload.fraction > 0.5 && upload.fraction < 1)

        upload.start(url)
        await upload.task?.value
        #expect(upload.status == "complete" && upload.failure == nil)
        #expect(
            upload.notices.contains { if case .continuing(let offset) = $0 { offset > 1_000_000 } else { false } })
        #expect(backend.files.lastFile == data)
    }

    @Test("an upload waits while it is paused")
    func pausedUpload() async throws {
        let upload = models().upload
        let (url, data) = try file(1_000_000)
        upload.start(url)
        upload.pause()
        try await eventually { upload.status == "paused" }
        #expect(upload.isPaused && backend.files.lastFile == nil)
        upload.resume()
        await upload.task?.value
        #expect(upload.status == "complete" && !upload.isPaused && backend.files.lastFile == data)
    }

    @Test("a reply grows word by word, even if the connection breaks in between")
    func chat() async throws {
        let chat = models().chat
        chat.draft = "How are you?"
        let drawn = Log<String>()
        follow(drawn) { [weak chat] in chat?.messages.last?.text ?? "" }
        chat.send()
        #expect(chat.draft.isEmpty && chat.isReplying && chat.messages.first?.text == "How are you?")
        await chat.task?.value
        #expect(chat.messages.map(\.isMine) == [true, false] && !chat.isReplying && chat.failure == nil)
        let reply = ChatService.words(to: "How are you?").joined()
        #expect(chat.messages.last?.text == reply)
        #expect(drawn.all.contains { !$0.isEmpty && $0 != reply && reply.hasPrefix($0) })
    }

    @Test("a stopped reply stays as it is, and the next question is sent")
    func stoppedChat() async throws {
        let chat = models().chat
        chat.draft = "One"
        chat.send()
        chat.stop()
        await chat.task?.value
        #expect(chat.failure == nil && !chat.isReplying)
        chat.draft = "Two"
        chat.send()
        await chat.task?.value
        #expect(chat.messages.map(\.isMine) == [true, false, true, false])
        #expect(chat.messages.last?.text == ChatService.words(to: "Two").joined())
    }
}
