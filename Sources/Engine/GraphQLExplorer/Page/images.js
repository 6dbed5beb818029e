// Finds the images in results, and shows them as small pictures.
import { makeElement } from "./dom.js";

const maxImages = 100;

/** The folders of the server's images. */
const imagePath = /^\/(?:book-covers|edition-covers|title-cards)\//;

/**
 * Returns the images in a result as `{ url, path, title }`, each URL once.
 *
 * The path is that on the server of this page, which may have another name than in the URL. The
 * title is that of the book.
 */
export function findImages(result) {
  const images = new Map();
  collectImages(result, "", images);
  return [...images.values()];
}

function collectImages(value, title, images) {
  if (images.size >= maxImages) return;
  if (typeof value === "string") {
    const path = pathOfImage(value);
    if (path && !images.has(value)) images.set(value, { url: value, path, title });
  } else if (value && typeof value === "object") {
    const innerTitle = typeof value.title === "string" ? value.title : title;
    for (const member of Object.values(value)) collectImages(member, innerTitle, images);
  }
}

function pathOfImage(text) {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return null;
  const { pathname, search } = new URL(text);
  return imagePath.test(pathname) ? pathname + search : null;
}

/** Makes a picture that opens the image in a new window. */
export function makePicture({ path, title }) {
  const name = title ? `Cover of ${title}` : "Cover";
  const picture = makeElement("img", { src: path, alt: name, title: name, className: "picture" });
  return makeElement("a", { href: path, target: "_blank", rel: "noopener" }, picture);
}
