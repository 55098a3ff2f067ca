import Errand
import ErrandEssentials
import ErrandExampleShop
import ErrandSystemTransport
import ErrandTesting
import ErrandXML

/// Reads the shop's news feed, and a malicious feed.
enum XMLChapter {
    private struct GetNews: XMLRequest {
        let path: String
    }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("XML: a feed, and an attack")
        shop.server.on(
            .get, "/v1/news.xml",
            .xml("<news><item day='Mon'>Apples</item><item day='Tue'>Pears &amp; plums</item></news>"))
        shop.server.on(
            .get, "/v1/attack.xml", .xml("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>\n<a>&b;</a>"))
        for item in try await shop.agent.send(GetNews(path: "news.xml")).value.all("item") {
            Chapter.line("\(item.attribute("day") ?? ""): \(item.text)")
        }
        do { _ = try await shop.agent.send(GetNews(path: "attack.xml")) } catch let error as ErrandError {
            Chapter.line("attack.xml: \(error.xml?.description ?? "")")
        }
        Chapter.end()
    }
}

extension TestResponse {
    fileprivate static func xml(_ text: String) -> TestResponse {
        TestResponse(headers: [.contentType: "application/xml"], body: Data(text.utf8))
    }
}
