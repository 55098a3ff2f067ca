// The code of docs/xml.md.
import Errand
import ErrandXML

struct GetNewsFeed: XMLRequest {
    var path: String { "feed.xml" }
}

private func tree(_ agent: NetworkAgent) async throws {
    let feed = try await agent.send(GetNewsFeed()).value
    for item in feed["channel"]?.all("item") ?? [] {
        print(item["title"]?.text ?? "", item["enclosure"]?.attribute("url") ?? "")
    }
    let atom = "http://www.w3.org/2005/Atom"
    let entries = feed.all(XMLName("entry", in: atom))
    let language = feed.attribute(XMLName("lang", in: XMLName.xmlNamespace))
    _ = (entries, language)
}

struct Headlines: XMLReadable {
    let titles: [String]

    init(xml: XMLTree) throws {
        titles = xml["channel"]?.all("item").compactMap { $0["title"]?.text } ?? []
    }
}

private func values(_ agent: NetworkAgent) async throws {
    let headlines = try await agent.send(Call<Headlines>(.get, "feed.xml")).value.titles
    _ = headlines
}

private func streams(_ agent: NetworkAgent, insert: (XMLTree) -> Void) async throws {
    let export = try await agent.send(Call<XMLEvents>(.get, "export.xml")).value
    for try await row in export.elements("row") { insert(row) }
}

private func events(_ export: XMLEvents) async throws {
    for try await event in export {
        switch event {
        case .start(let name, let attributes): print(name, attributes.count)
        case .text(let text): print(text)
        case .end(let name): print(name)
        }
    }
}

struct GetSitemap: XMLRequest {
    var path: String { "sitemap.xml" }
    var xmlLimits: XMLLimits {
        var limits = XMLLimits.standard
        limits.maximumBytes = 4 << 20
        limits.skipsDocumentType = true
        return limits
    }
}

private func failures(_ agent: NetworkAgent) async throws {
    do {
        _ = try await agent.send(GetNewsFeed())
    } catch let error as ErrandError {
        if let xml = error.xml { print(xml.code, xml.line, xml.column) }
    }
}
