// The code for apps' base classes in docs/recipes.md.
import Errand
import ErrandBatch
import ErrandLoadingIndicatorLog
import ErrandMultipart
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

enum ShowsHUD: TagKey { static let defaultValue = false }
enum ShowsToast: TagKey { static let defaultValue = true }

struct Toasts: Accessory {
    private let accessory: MainActorAccessory

    init(_ show: @escaping @MainActor @Sendable (String) -> Void) {
        accessory = MainActorAccessory { activity, event in
            guard case .willStop(.failure(let error)) = event, activity.parent == nil,
                activity.tags[ShowsToast.self]
            else { return }
            show(error.localizedDescription)
        }
    }

    func activity(_ activity: Activity, did event: ActivityEvent) { accessory.activity(activity, did: event) }
}

@MainActor final class ToastScreen {
    private(set) var toasts: [String] = []
    func toast(_ text: String) { toasts.append(text) }
}

private nonisolated protocol ReflectedRequest: Request, Encodable {}
nonisolated extension ReflectedRequest { var parameters: Parameters? { Parameters(encoding: self) } }

private struct ListUsers: ReflectedRequest {
    typealias Output = [User]
    let name: String
    var page = 1
    var path: String { "users" }
}

private struct UploadImage: Request {
    typealias Output = Void
    let image: Data
    var method: HTTPMethod { .post }
    var path: String { "images" }
    var body: RequestBody { .multipart(.data(image, name: "file", fileName: "image.jpg", contentType: "image/jpeg")) }
}

private func call(_ path: String, _ arguments: [String: ParameterValue]) -> Call<HTTPResponse> {
    Call(.post, path) { $0.parameters = Parameters(arguments.map { Parameters.Item($0, $1) }) }
}

@MainActor final class UserSearch {
    private(set) var found: [User] = []
    private let agent: NetworkAgent
    private let time: any TimeSource
    private var task: Task<Void, Never>?

    init(on agent: NetworkAgent, time: any TimeSource = SystemTimeSource()) { (self.agent, self.time) = (agent, time) }

    func type(_ text: String) {
        task?.cancel()
        task = Task { [agent, time, weak self] in
            do {
                try await time.sleep(until: time.now.advanced(by: .milliseconds(300)))
                let found = try await agent.send(Call<[User]>(.get, "users", query: ["q": text])).value
                if !Task.isCancelled { self?.found = found }
            } catch {
                if !error.isCancellation { self?.found = [] }
            }
        }
    }
}

private nonisolated func wait(for agent: NetworkAgent, show: @escaping @Sendable (Any) -> Void) {
    let (queue, done) = (DispatchQueue(label: "results"), DispatchSemaphore(value: 0))
    agent.start(GetUser(id: 7), on: queue) { result in
        show(result)
        done.signal()
    }
    done.wait()
}

private nonisolated func leave(to agent: NetworkAgent, show: @escaping @Sendable (Any) -> Void) -> Never {
    agent.start(GetUser(id: 7)) { result in
        show(result)
        exit(0)
    }
    dispatchMain()
}

@Suite("What the recipes for apps show", .endsInTime, .leakChecked) struct AppRecipesTests {
    private func toasts(_ agent: NetworkAgent, _ screen: ToastScreen) async throws {
        let hud = LoadingIndicator(label: "Loading…", watching: { $0.tags[ShowsHUD.self] })
        agent.configure { $0.accessories = [hud, Toasts { text in screen.toast(text) }] }

        let quiet = Tags().with(ShowsHUD.self, true).with(ShowsToast.self, false)
        try await agent.send(GetUser(id: 7), options: CallOptions(tags: quiet))
    }

    @Test("a failure shows a toast, unless a tag forbids it, and a batch shows one toast")
    func toasts() async throws {
        let screen = ToastScreen()
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.status(404)))
        await #expect(throws: ErrandError.self) { try await toasts(agent, screen) }
        _ = try? await agent.run(Batch([GetUser(id: 1), GetUser(id: 2)]))
        _ = try? await agent.send(GetUser(id: 8))
        try await eventually { await MainActor.run { screen.toasts.count == 2 } }
        let last = await MainActor.run { screen.toasts.last }
        #expect(last == "This couldn't be found.")
    }

    @Test("a dictionary is a form, and properties are parameters")
    func parameters() async throws {
        let server = try TestServer()
        server.on("/*", .json(#"{"id":7,"name":"Ada"}"#))
        server.on(.get, "/users", .json("[]"))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let reply = try await agent.send(call("users", ["name": "Ada", "tags": ["a", "b"]])).value
        let ada = try reply.json(User.self)
        #expect(ada.name == "Ada")
        _ = try await agent.send(ListUsers(name: "Ada L")).value
        let received = server.received
        #expect(received.first.map { String(decoding: $0.body, as: UTF8.self) } == "name=Ada&tags%5B%5D=a&tags%5B%5D=b")
        #expect(received.last?.query("name") == "Ada L" && received.last?.query("page") == "1")
    }

    @Test("a search sends the last text, once")
    func search() async throws {
        let stub = StubTransport(.json(#"[{"id":7,"name":"Ada"}]"#))
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let search = await MainActor.run {
            let search = UserSearch(on: agent, time: time)
            for text in ["A", "Ad", "Ada"] { search.type(text) }
            return search
        }
        try await eventually {
            time.advance(by: .milliseconds(300))
            return await MainActor.run { !search.found.isEmpty }
        }
        let found = await MainActor.run { search.found }
        #expect(found.first?.name == "Ada" && stub.received.count == 1)
        #expect(stub.received.first?.url.query == "q=Ada")
    }

    @Test("a program that waits for a queue receives its result")
    func commandLine() async throws {
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"id":7,"name":"Ada"}"#)))
        let results = Log<String>()
        await withCheckedContinuation { continuation in
            Thread {
                wait(for: agent) { results.add("\($0)") }
                continuation.resume()
            }.start()
        }
        #expect(results.all.count == 1)
    }

    private func upload(_ agent: NetworkAgent, _ images: [Data], show: @escaping @MainActor @Sendable (Int64) -> Void)
        async throws -> [Int]
    {
        let batch = Batch(images.map(UploadImage.init), maximumConcurrent: 3, policy: .collectAll)
        let results = try await agent.run(batch, options: CallOptions(progressOnMain: { show($0.sent) }))
        let failed = results.indices.filter { (try? results[$0].get()) == nil }
        return failed
    }

    @Test("a batch of uploads reports which of them failed")
    func uploads() async throws {
        let server = try TestServer()
        server.on(.post, "/images") { request in
            .status(request.body.range(of: Data("broken".utf8)) == nil ? 200 : 422)
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let images = ["one", "two", "broken", "four", "five"].map { Data($0.utf8) }
        #expect(try await upload(agent, images) { _ in } == [2])
        #expect(server.received.count == 5)
    }
}
