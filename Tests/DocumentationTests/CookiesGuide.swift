// The code of docs/cookies.md.
import Errand
import ErrandCookies
import ErrandSystemTransport
import Foundation

private func first() {
    let jar = CookieJar()
    let agent = NetworkAgent(
        baseURL: "https://example.com", transport: .system, filters: [.cookies(jar)])
    _ = agent
}

private func files(_ jar: CookieJar, _ file: URL, _ copy: URL) async throws {
    let saved = try CookieJar(file: file)
    _ = saved

    let count = try await jar.load(curlFile: file)
    try await jar.write(curlFile: copy)
    _ = count
}

private enum Modes {
    static func off(_ agent: any Agent) async throws {
        try await agent.send(GetNews(), options: .cookies(.off))
    }

    struct GetNews: Request {
        var path: String { "news" }
        var tags: Tags { Tags().with(CookieMode.self, .off) }
    }
}

private func own(_ jar: CookieJar, _ url: URL) async throws {
    try jar.insert(Cookie("theme", "dark", domain: "example.com", isSecure: true))
    let sent = jar.cookies(for: url)
    let field = jar.cookieField(for: url)  // for a web view, or another client
    jar.remove { $0.domain == "example.com" }
    try await jar.save()
    _ = (sent, field)
}

private func suffixes(_ list: String) {
    var policy = CookiePolicy()
    policy.publicSuffixes = PublicSuffixes(list: list)
    let strict = CookieJar(policy: policy)
    _ = strict
}
