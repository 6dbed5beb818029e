import Images

/// The program that decodes images, as a server starts it.
enum ImagerExamination {
    private static let check = "imager"

    static func finding() async -> Finding {
        do throws(ImageError) {
            // It proves at its start that it reads no other loader's format.
            let images = try ImagerPool(processCount: 1)
            _ = try await images.titleCard(
                TitleCard(title: "Bookplate", author: "Doctor", genre: nil))
            guard try await refuses(svg, images) else {
                return .wrong(
                    check, "bookplate-imager reads SVG", "install the one of this version")
            }
            return .ok(check, "bookplate-imager draws, and refuses SVG, PDF and the like")
        } catch .unavailable(let reason) {
            return .wrong(
                check, reason,
                "install bookplate-imager beside bookplate-admin, and look whether the kernel gives sandboxes"
            )
        } catch {
            return .wrong(
                check, "bookplate-imager draws no title card: \(error)",
                "install a font, such as fonts-dejavu-core")
        }
    }

    private static let svg = Array(
        #"<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32"></svg>"#.utf8)

    private static func refuses(
        _ bytes: [UInt8], _ images: ImagerPool
    ) async throws(ImageError) -> Bool {
        do throws(ImageError) {
            _ = try await images.cover(from: bytes)
            return false
        } catch .unsupported {
            return true
        }
    }
}
