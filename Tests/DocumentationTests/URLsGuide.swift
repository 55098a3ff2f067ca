// The code of docs/urls.md.
import Errand
import ErrandEssentials
import ErrandHTTPSyntax

private struct Listing { let next: String }

private func following(_ page: Listing, _ response: Response<Data>) throws {
    let next = try URLReference(page.next).requestURL(against: response.http.url)
    _ = next
}
