// The code of docs/loading-indicator.md.
import Errand
import ErrandLoadingIndicatorLog
import ErrandSystemTransport
import ErrandTesting

private enum Section: TagKey { static let defaultValue = "" }

private func install() {
    let indicator = LoadingIndicator(.terminal(), label: "Loading…")
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .system, accessories: [indicator])
    _ = agent
}

private func quick(_ bell: Bell) {
    let time = ManualTimeSource()
    let quick = LoadingIndicator(bell, delay: .zero, minimumDuration: .zero, interval: .zero, time: time)
    _ = quick
}

private func watch(_ agent: NetworkAgent) async throws {
    let feed = LoadingIndicator(.terminal(), watching: { $0.tags[Section.self] == "feed" })

    let one = LoadingIndicator(.terminal(), label: "Signing in…")
    let user = try await agent.send(GetUser(id: 7), options: CallOptions(accessories: [one]))
    _ = (feed, user)
}

struct FindFlights: Request {
    var tags: Tags { Tags().with(LoadingLabel.self, "Looking for flights…") }
}

@MainActor private func follow(_ indicator: LoadingIndicator) async {
    var loading = false
    for await state in indicator.states { loading = state.isShown }
    _ = loading
    await indicator.finish()
}

@MainActor private final class TitledScreen { var title = "" }

@MainActor private func hand(_ indicator: LoadingIndicator, to screen: TitledScreen) {
    indicator.follow(screen) { screen, state in screen.title = state.isShown ? "Loading…" : "" }
}

private func write() {
    let spinner = TerminalSpinner()
    spinner.print("42 files are new")
}

struct Bell: LoadingPresenter {
    func present(_ state: LoadingState) { if !state.isShown { print("\u{7}done") } }
}

private func events(_ agent: NetworkAgent) {
    let events = EventAccessory(
        willStart: { print("begins") }, success: { _ in print("arrived") }, failure: { print($0) },
        didStop: { print("over") })
    agent.start(GetUser(id: 7), options: CallOptions(accessories: [events]))
}
